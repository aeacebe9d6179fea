// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService
import WhorlSupport

/// The command `whorl account`.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Manages the fingers and items of accounts that were renamed or deleted, as root.",
        discussion: """
            The system's service stores them under the account's number and notes its name. `userdel` removes them with the \
            account. Use these commands after a change of the name, or if an account was deleted in another way. Examples:

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
            abstract: "Lists the accounts whose fingers and items are stored."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try requireAdministrator()
            let accounts = try await storedAccounts()
            return Answer(
                result: ["accounts": .array(accounts.map(\.json))],
                text: accounts.isEmpty
                    ? ["Nothing is stored for any account."] : Table.lines(accounts.map(\.row))
            )
        }
    }

    /// The command `whorl account renamed`.
    struct Renamed: Verb {
        static let asks = Asked.systemService
        static let configuration = CommandConfiguration(
            commandName: "renamed",
            abstract:
                "Confirms that a renamed account is still the same person's, so that its fingers are trusted."
        )
        @Argument(help: ArgumentHelp("The present name of the account, or its number.", valueName: "account"))
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
                text: ["The fingers and items of user number \(found.number) are “\(name)”’s."]
            )
        }
    }

    /// The command `whorl account remove`.
    struct Remove: Verb {
        static let asks = Asked.systemService
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Removes the fingers and items of an account that no longer exists."
        )
        @Argument(help: ArgumentHelp("The name that the account had, or its number.", valueName: "account"))
        var account: String
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try requireAdministrator()
            let accounts = try await storedAccounts()
            let found = try only(accounts.filter { $0.name == account || "\($0.number)" == account }, account)
            try await RemoteAccounts().remove(found.number)
            let name = found.name.map { " (“\(DisplayText.clean($0, limit: 60))”)" } ?? ""
            return Answer(
                result: ["number": .integer(Int(found.number))],
                text: ["The fingers and items of user number \(found.number)\(name) are removed."]
            )
        }
    }
}

extension Verb {
    fileprivate func requireAdministrator() throws(Failure) {
        try requireRoot("Only root may manage the state of accounts.")
        try requireSystemService(
            "The system's service is not installed, and nothing else stores the state of accounts."
        )
    }

    fileprivate func storedAccounts() async throws -> [AccountOfFolder] {
        try await RemoteAccounts().accounts()
    }

    /// Returns the only account that is meant.
    fileprivate func only(_ found: [AccountOfFolder], _ word: String) throws(Failure) -> AccountOfFolder {
        guard let first = found.first, found.count == 1 else {
            let word = DisplayText.clean(word, limit: 60)
            throw .usage(
                found.isEmpty
                    ? "Nothing is stored for an account “\(word)”."
                    : "More than one account is or was named “\(word)”.",
                hint: "`sudo whorl account list` lists the accounts; name one by its number."
            )
        }
        return first
    }
}

extension AccountOfFolder {
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
        case .renamed: "now “\(current)”; the fingers are not trusted yet"
        case .other: "the number is “\(current)”’s now, who gets nothing of it"
        case .missing: "no such account"
        case .unknown: "unknown: the user database does not answer"
        }
    }
}
