// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import WhorlService

/// The command `whorl remove`.
struct Remove: Verb {
    static let asks = Asked.engine
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

    func answer(_ session: Session) async throws -> Answer {
        let selection = try FingerSelection(argument: finger, all: all, on: namedReader)
        let preset = try await passcode.preset()
        return answer(try await session.ask(handing: preset) { RemoveFingers(selection, force: force, $0) })
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
