// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Authentication
import Enrollment
import Fingerprint
import StateStore
import WhorlSystem

/// The command `whorl remove`.
struct Remove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes enrolled fingers, from the reader too.",
        discussion: """
            The owner agrees first, by touching the reader with an enrolled finger or by the passcode. Programs that \
            watch the enrolled fingers notice it. Examples:

              whorl remove right-index-finger
              whorl remove --all
            """
    )

    @Argument(help: "A finger's name, or an id from `whorl fingers`.", completion: .list(Finger.allNames))
    var finger: String?

    @Flag(help: "Removes every finger of the profile, also when the set cannot be trusted any more.")
    var all = false

    @Flag(help: "Also when the reader that keeps the print is not connected.")
    var force = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let selection = try FingerSelection(argument: finger, all: all, on: namedReader)
        guard let enroller = try await session.existingEnroller() else {
            guard all else { throw Failure(EnrollmentError(.noSuchFinger)) }
            return answer([])
        }
        let readers = try await failing { () async throws(AuthenticationError) in
            try await session.services.readers()
        }
        for reader in readers { session.console.used(await reader.info.kind) }
        let profile = session.services.profile
        try await failing { () async throws(EnrollmentError) in
            _ = try await enroller.removable(selection, profile: profile, readers: readers, force: force)
        }
        let consent = try await session.consent(to: .remove(selection), passcode)
        let removed = try await failing { () async throws(EnrollmentError) in
            try await enroller.remove(
                selection,
                profile: profile,
                readers: readers,
                force: force,
                consent: consent
            )
        }
        return answer(removed)
    }

    /// The reader that was named for this command; a mock's script is not an ID.
    private var namedReader: ReaderID? {
        guard let reader = global.reader, reader != "mock", !reader.hasPrefix("mock:") else { return nil }
        return ReaderID(rawValue: reader)
    }

    private func answer(_ removed: [EnrolledFinger]) -> Answer {
        Answer(
            result: [
                "removed": .array(
                    removed.map { ["finger": .string($0.finger.rawValue), "id": .string($0.id.description)] }
                )
            ],
            text: removed.isEmpty
                ? ["Nothing was enrolled."] : removed.map { "removed: \($0.finger.rawValue) \($0.id)" }
        )
    }
}
