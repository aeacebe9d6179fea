// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import FoundationEssentials
import WhorlService

/// The command `whorl fingers`.
struct Fingers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fingers",
        abstract: "List or label fingers, or accept them after tampering",
        discussion: """
            The last column is the ID to use with `whorl remove`. Examples:

              whorl fingers
              whorl fingers label right-thumb "the good hand"
              whorl fingers accept
            """,
        subcommands: [List.self, Label.self, Accept.self],
        defaultSubcommand: List.self
    )

    /// The command `whorl fingers list`, the default of `whorl fingers`.
    struct List: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List enrolled fingers"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let fingers = try await session.services.ask(ListFingers())
            return Answer(
                result: ["fingers": .array(fingers.map(\.json))],
                text: fingers.isEmpty ? ["No fingers enrolled."] : Table.lines(fingers.map(\.row))
            )
        }
    }

    /// The command `whorl fingers label`.
    struct Label: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "label",
            abstract: "Change the label of a finger, or remove it"
        )
        @Argument(help: "Finger name, or ID from `whorl fingers`", completion: .list(Finger.allNames))
        var finger: String
        @Argument(help: "The label, up to 100 characters; without it, the label is removed")
        var label: String?
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let selection = try FingerSelection(argument: finger, all: false, on: nil)
            let labeled = try await session.services.ask(LabelFingers(selection, as: label))
            return Answer(
                result: ["fingers": .array(labeled.map(\.json))],
                text: labeled.map { "labeled: \($0.rowText)" }
            )
        }
    }

    /// The command `whorl fingers accept`.
    struct Accept: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Accept fingers that were tampered with or restored from a backup",
            discussion: """
                Lists the fingers first, then prompts for the passcode. Programs see a new set of fingers afterwards, and secrets and \
                keys bound to an earlier set stay unusable. Without a passcode, you can only remove the fingers: \
                `whorl remove --all`.
                """
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let candidates = try await session.services.ask(ListAcceptableFingers())
            guard let candidates else { return answer(nil) }
            for finger in candidates { session.console.tell("would be accepted: \(finger.rowText)") }
            let preset = try await passcode.preset()
            return answer(try await session.ask(handing: preset) { AcceptFingers($0) }.value)
        }

        private func answer(_ accepted: AcceptedFingers?) -> Answer {
            guard let accepted else {
                return Answer(
                    result: ["accepted": false],
                    text: ["The enrolled fingers are intact; nothing to accept."]
                )
            }
            return Answer(
                result: [
                    "accepted": true,
                    "fingers": .array(accepted.kept.map(\.json)),
                    "removed": .array(
                        accepted.removed.map {
                            ["finger": .string($0.finger.rawValue), "id": .string($0.id.description)]
                        }
                    ),
                ],
                text: accepted.kept.map { "accepted: \($0.rowText)" }
                    + accepted.removed.map { "removed, unreadable: \($0.finger.rawValue) \($0.id)" }
                    + (accepted.kept.isEmpty ? ["No fingers enrolled."] : [])
            )
        }
    }
}

extension EnrolledFinger {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.description), "finger": .string(finger.rawValue),
            "label": label.map(JSONValue.string), "reader": .string(reader.rawValue),
            "enrolledAt": .string(enrolledAt.ISO8601Format()), "readerAccess": .string(access.rawValue),
        ]
    }

    fileprivate var rowText: String { row.filter { !$0.isEmpty }.joined(separator: "  ") }

    fileprivate var row: [String] {
        [
            finger.rawValue, label ?? "", "\(readerName) (\(reader))", LocalTime.day(enrolledAt),
            id.description,
        ]
    }
}
