// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion

/// Users and their passwords, in the store's documents.
struct Accounts: Sendable {
    private struct Account: Codable, Equatable {
        let password: PasswordHash
        /// Seconds since 1970: tokens that a password gave before are over.
        let since: Int
    }

    /// The names of all accounts: documents are found by name only.
    private static let directory = "accounts"

    private let documents: any Documents
    private let cost: PasswordHash.Cost

    init(documents: any Documents, cost: PasswordHash.Cost = .standard) {
        self.documents = documents
        self.cost = cost
    }

    /// Since when the user has this password, in seconds since 1970; `nil` for no user of ours.
    func since(_ user: LoginName) async throws -> Int? {
        try await account(user)?.since
    }

    /// What a password is compared with: that of the user, or for nobody one that matches nothing and takes as long.
    func passwordHash(of user: LoginName) async throws -> PasswordHash {
        try await account(user)?.password ?? .nobody(cost: cost)
    }

    /// All users, in the order of their names.
    func all() async throws -> [LoginName] {
        try Self.names(try await documents.document(Self.directory)).compactMap(LoginName.init)
    }

    /// Adds a user.
    ///
    /// - Throws: where there is such a user, or the password is none.
    func add(_ user: LoginName, password: String, at now: Int) async throws {
        let new = try record(password, since: now)
        // The name first: an account that is not listed could not be seen, a name without an account is harmless.
        try await list { $0.insert(user.text) }
        guard try await documents.setDocument(Self.name(user), to: new, ifWas: nil) else {
            throw ServerError(.account, "there is a user \(user.text) already", hint: "user passwd \(user.text)")
        }
    }

    /// Gives a user another password; tokens that the old one gave are over, devices stay.
    func setPassword(_ password: String, of user: LoginName, at now: Int) async throws {
        let new = try record(password, since: now)
        guard let old = try await documents.document(Self.name(user)) else { throw Self.unknown(user) }
        guard try await documents.setDocument(Self.name(user), to: new, ifWas: old) else {
            throw ServerError(.account, "the account of \(user.text) was changed meanwhile", hint: "try again")
        }
    }

    /// Removes a user. The devices are the relying party's.
    func remove(_ user: LoginName) async throws {
        guard let old = try await documents.document(Self.name(user)) else { throw Self.unknown(user) }
        guard try await documents.setDocument(Self.name(user), to: nil, ifWas: old) else {
            throw ServerError(.account, "the account of \(user.text) was changed meanwhile", hint: "try again")
        }
        try await list { $0.remove(user.text) }
    }

    private func account(_ user: LoginName) async throws -> Account? {
        guard let bytes = try await documents.document(Self.name(user)) else { return nil }
        return try JSONDecoder().decode(Account.self, from: bytes)
    }

    private func record(_ password: String, since now: Int) throws -> Data {
        guard (1...PasswordHash.longest).contains(password.utf8.count) else {
            throw ServerError(.account, "a password has 1 to \(PasswordHash.longest) bytes")
        }
        return try JSON.encoder.encode(Account(password: try PasswordHash(password, cost: cost), since: now))
    }

    private func list(_ change: (inout Set<String>) -> Void) async throws {
        for _ in 0..<100 {
            let old = try await documents.document(Self.directory)
            var names = Set(try Self.names(old))
            change(&names)
            let new = try JSON.encoder.encode(names.sorted())
            if try await documents.setDocument(Self.directory, to: new, ifWas: old) { return }
        }
        throw ServerError(.store, "the list of users could not be changed: others change it all the time")
    }

    private static func names(_ directory: Data?) throws -> [String] {
        try directory.map { try JSONDecoder().decode([String].self, from: $0) } ?? []
    }

    private static func name(_ user: LoginName) -> String { "account/\(user.text)" }

    private static func unknown(_ user: LoginName) -> ServerError {
        ServerError(.account, "there is no user \(user.text)", hint: "user list")
    }
}
