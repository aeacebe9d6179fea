// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Enrollment
import Fingerprint
import FoundationEssentials
import StateStore
import WhorlSystem

/// The command `whorl fingers`.
struct Fingers: Verb {
    static let configuration = CommandConfiguration(
        commandName: "fingers",
        abstract: "Lists the enrolled fingers.",
        discussion: """
            The last column is the id that `whorl remove` takes. Example:

              whorl fingers
            """
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let fingers = try await session.enrolledFingers()
        return Answer(
            result: ["fingers": .array(fingers.map(\.json))],
            text: fingers.isEmpty ? ["No finger is enrolled."] : Table.lines(fingers.map(\.row))
        )
    }
}

extension Session {
    /// The enrolled fingers of the profile; none where nothing was ever stored, and nothing is made then.
    func enrolledFingers() async throws(Failure) -> [EnrolledFinger] {
        guard let store = try await existingStore() else {
            return []
        }
        return try await failing { () async throws(EnrollmentError) in
            try await store.fingers(of: services.profile)
        }
    }
}

extension EnrolledFinger {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.description), "finger": .string(finger.rawValue),
            "label": label.map(JSONValue.string), "reader": .string(reader.rawValue),
            "enrolledAt": .string(enrolledAt.ISO8601Format()),
        ]
    }

    fileprivate var row: [String] {
        [
            finger.rawValue, label ?? "", "\(readerName) (\(reader))", LocalTime.day(enrolledAt),
            id.description,
        ]
    }
}
