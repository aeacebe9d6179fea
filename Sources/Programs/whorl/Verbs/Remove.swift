// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import WhorlService

/// The command `whorl remove`.
struct Remove: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove enrolled fingers, including from the reader",
        discussion: """
            You authenticate first, by touch or passcode. Programs that watch the set of enrolled fingers notice the change. \
            Examples:

              whorl remove right-index-finger
              whorl remove --all
            """
    )

    @Argument(help: "Finger name, or ID from `whorl fingers`", completion: .list(Finger.allNames))
    var finger: String?

    @Flag(help: "Remove all fingers of the profile, even if they were tampered with")
    var all = false

    @Flag(help: "Remove even if the reader that stores the print is not connected")
    var force = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        let selection = try FingerSelection(argument: finger, all: all, on: namedReader)
        let preset = try await passcode.preset()
        return answer(try await session.ask(handing: preset) { RemoveFingers(selection, force: force, $0) })
    }

    /// The ID of the reader selected for this command; `nil` for a mock reader, because its script is not an ID.
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
                ? ["No fingers were enrolled."] : removed.map { "removed: \($0.finger.rawValue) \($0.id)" }
        )
    }
}
