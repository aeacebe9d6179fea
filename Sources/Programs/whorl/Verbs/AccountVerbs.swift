// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl account`.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Manage items of renamed or deleted accounts (root only)",
        discussion: """
            The system service stores fingers and items under the account's numeric ID, along with its name. `userdel` removes \
            them with the account. Use these commands after you rename an account, or delete one in another way. Examples:

              sudo whorl account list
              sudo whorl account renamed ada.smith
              sudo whorl account remove ada
            """,
        subcommands: [List.self, Renamed.self, Remove.self]
    )

    /// The command `whorl account list`.
    struct List: Verb {
        static let asks = Asked.systemService
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the accounts with stored fingers and items"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try requireAdministrator()
            let accounts = try await storedAccounts()
            return Answer(
                result: ["accounts": .array(accounts.map(\.json))],
                text: accounts.isEmpty
                    ? ["No accounts with stored fingers or items."] : Table.lines(accounts.map(\.row))
            )
        }
    }

    /// The command `whorl account renamed`.
    struct Renamed: Verb {
        static let asks = Asked.systemService
        static let configuration = CommandConfiguration(
            commandName: "renamed",
            abstract:
                "Confirm that a renamed account still belongs to the same user"
        )
        @Argument(help: ArgumentHelp("The account's new name, or its numeric ID", valueName: "account"))
        var account: String
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try requireAdministrator()
            let accounts = try await storedAccounts()
            let found = try only(
                accounts.filter { $0.current == account || "\($0.number)" == account },
                account
            )
            try await RemoteAccounts().confirm(found.number)
            let name = DisplayText.clean(found.current ?? account, limit: 60)
            return Answer(
                result: ["number": .integer(Int(found.number)), "name": .string(name)],
                text: ["The fingers and items of user ID \(found.number) now belong to “\(name)”."]
            )
        }
    }

    /// The command `whorl account remove`.
    struct Remove: Verb {
        static let asks = Asked.systemService
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the fingers and items of a deleted account",
            discussion:
                "With --existing, the data is removed although the account exists, and its user can begin again."
        )
        @Argument(help: ArgumentHelp("The account's former name, or its numeric ID", valueName: "account"))
        var account: String
        @Flag(help: "Also if the account exists")
        var existing = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try requireAdministrator()
            let accounts = try await storedAccounts()
            let found = try only(accounts.filter { $0.name == account || "\($0.number)" == account }, account)
            try await RemoteAccounts().remove(found.number, existing: existing)
            let name = found.name.map { " (“\(DisplayText.clean($0, limit: 60))”)" } ?? ""
            return Answer(
                result: ["number": .integer(Int(found.number))],
                text: ["Removed the fingers and items of user ID \(found.number)\(name)."]
            )
        }
    }
}

extension Verb {
    fileprivate func requireAdministrator() throws(Failure) {
        try requireRoot("Only root can manage other accounts.")
        try requireSystemService(
            "The system service is not installed."
        )
    }

    fileprivate func storedAccounts() async throws -> [StoredAccount] {
        try await RemoteAccounts().accounts()
    }

    /// Returns the account that matches a word; throws unless there is exactly one.
    fileprivate func only(_ found: [StoredAccount], _ word: String) throws(Failure) -> StoredAccount {
        guard let first = found.first, found.count == 1 else {
            let word = DisplayText.clean(word, limit: 60)
            throw .usage(
                found.isEmpty
                    ? "Nothing is stored for account “\(word)”."
                    : "More than one account is or was named “\(word)”.",
                hint: "Use the numeric ID from `sudo whorl account list`."
            )
        }
        return first
    }
}

extension StoredAccount {
    fileprivate var json: JSONValue {
        [
            "number": .integer(Int(number)), "name": name.map(JSONValue.string) ?? .null,
            "current": current.map(JSONValue.string) ?? .null, "state": .string(state.rawValue),
        ]
    }

    fileprivate var row: [String] {
        ["\(number)", name.map { DisplayText.clean($0, limit: 40) } ?? "?", explanation]
    }

    private var explanation: String {
        let current = DisplayText.clean(current ?? "?", limit: 40)
        return switch state {
        case .same: "in use"
        case .renamed: "renamed to “\(current)”; run `whorl account renamed` to use its fingers again"
        case .other: "the ID now belongs to “\(current)”, who cannot use this data"
        case .missing: "no such account"
        case .unknown: "unknown: the user database does not respond"
        }
    }
}
