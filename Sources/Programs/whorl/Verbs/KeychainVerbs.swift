// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The command `whorl keychain`.
struct KeychainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain",
        abstract: "List or delete what programs store in the keychain",
        discussion: """
            You authenticate first, by touch or passcode. Values are not shown. Examples:

              whorl keychain list
              whorl keychain delete 7294123456789012345
            """,
        subcommands: [List.self, Delete.self],
        defaultSubcommand: List.self
    )

    /// The command `whorl keychain list`, the default of `whorl keychain`.
    struct List: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keychain items of all programs"
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let stored = try await session.programItems(handing: try await passcode.preset())
            let items = stored.programs.flatMap { program in program.items.map { (program.accessGroup, $0) } }
            let omitted =
                stored.omitted == 0
                ? [] : ["Not listed, because they are damaged or too many: \(stored.omitted)"]
            return Answer(
                result: [
                    "items": .array(items.map(Self.json)), "omitted": .integer(stored.omitted),
                ],
                text: (items.isEmpty ? ["No items."] : Table.lines(items.map(Self.row))) + omitted
            )
        }

        private static func json(_ group: String, _ item: ProgramItems.Item) -> JSONValue {
            [
                "id": .string(item.id), "group": .string(group), "kind": .string(item.kind.rawValue),
                "name": .string(item.name), "needsOwner": .bool(item.needsOwner),
            ]
        }

        private static func row(_ group: String, _ item: ProgramItems.Item) -> [String] {
            [
                item.id, DisplayText.quoted(group, limit: 60), item.kind.rawValue,
                DisplayText.quoted(item.name, limit: 60),
                item.needsOwner ? "requires a finger or the passcode" : "",
            ]
        }
    }

    /// The command `whorl keychain delete`.
    struct Delete: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a keychain item of any program"
        )
        @Argument(help: "ID from `whorl keychain list`")
        var id: String
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let stored = try await session.programItems(handing: try await passcode.preset())
            guard let item = stored.programs.flatMap(\.items).first(where: { $0.id == id }) else {
                throw ServiceError(
                    .noSuchItem,
                    message: "The keychain has no item \(DisplayText.quoted(id, limit: 40)).",
                    recovery: "List the items: `whorl keychain list`."
                )
            }
            try await session.services.ask(DeleteProgramItem(item.version))
            return Answer(
                result: ["deleted": .string(item.id)],
                text: ["deleted: \(DisplayText.quoted(item.name, limit: 60))"]
            )
        }
    }
}

extension Session {
    fileprivate func programItems(handing passcode: SecretBox?) async throws -> ProgramItems {
        try await ask(handing: passcode) { ListProgramItems($0) }
    }
}

extension ProgramItems.Item {
    /// The number of the row, which identifies the item on the command line.
    fileprivate var id: String { String(version.id) }
}
