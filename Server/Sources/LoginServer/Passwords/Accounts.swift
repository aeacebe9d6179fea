// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion

/// Users and their passwords, in the store's documents.
struct Accounts: Sendable {
    private struct Account: Codable, Equatable {
        let password: PasswordHash
        /// The random ID of this password: tokens from an earlier password are no longer valid.
        let credential: String
        /// Tokens from before this time are no longer valid, in seconds since 1970; `nil` if no sessions were ended.
        var sessionsFrom: Int?
    }

    /// The state of an account, to check its sessions against.
    struct Standing {
        /// The ID of the user's current password.
        let credential: String
        /// Tokens from before this time are no longer valid, in seconds since 1970.
        let sessionsFrom: Int
    }

    /// The hash to compare a password with, and the ID of the user's password.
    struct Expected {
        let hash: PasswordHash
        /// The ID of the password; `nil` for an unknown user.
        let credential: String?
    }

    /// The prefix of the names of all accounts' documents.
    private static let prefix = "account/"

    private let documents: any Documents
    private let cost: PasswordHash.Cost

    init(documents: any Documents, cost: PasswordHash.Cost = .standard) {
        self.documents = documents
        self.cost = cost
    }

    /// Returns the ID of the user's current password; `nil` for an unknown user.
    func credential(of user: LoginName) async throws -> String? {
        try await account(user)?.credential
    }

    /// Returns the state to check sessions of the user against; `nil` for an unknown user.
    func standing(of user: LoginName) async throws -> Standing? {
        try await account(user).map {
            Standing(credential: $0.credential, sessionsFrom: $0.sessionsFrom ?? 0)
        }
    }

    /// Returns the document with a user's password if it has this ID; `nil` if the password has changed.
    func evidence(of user: LoginName, credential: String) async throws -> (name: String, document: Data)? {
        let name = Self.name(user)
        guard let document = try await documents.document(name),
            try JSONDecoder().decode(Account.self, from: document).credential == credential
        else { return nil }
        return (name, document)
    }

    /// Returns the hash to compare a password with: the user's, or for an unknown user one that matches nothing and
    /// takes the same time.
    ///
    /// The hash and the ID come from one read, so that the ID never belongs to a password set in between.
    func expected(of user: LoginName) async throws -> Expected {
        let account = try await account(user)
        return Expected(hash: account?.password ?? .nobody(cost: cost), credential: account?.credential)
    }

    /// Returns all users, sorted by name.
    func all() async throws -> [LoginName] {
        var names: [LoginName] = []
        var last = ""
        while true {
            let part = try await documents.documentNames(withPrefix: Self.prefix, after: last, atMost: 1_000)
            guard let end = part.last else { return names.sorted { $0.text < $1.text } }
            names += part.compactMap { LoginName(String($0.dropFirst(Self.prefix.count))) }
            last = end
        }
    }

    /// Adds a user.
    ///
    /// - Throws: An error if the user already exists, or the password is not allowed.
    func add(_ user: LoginName, password: String) async throws {
        guard !user.text.contains(":") else {
            throw ServerError(
                .account,
                "the user name \(user.text) contains a colon, which HTTP Basic authentication does not allow (RFC 7617)"
            )
        }
        let new = try JSON.encoder.encode(try record(password))
        guard try await documents.setDocument(Self.name(user), to: new, ifWas: nil) else {
            throw ServerError(
                .account,
                "user \(user.text) already exists",
                hint: "user passwd \(user.text)"
            )
        }
    }

    /// Changes a user's password; tokens from the old one are no longer valid, devices stay.
    func setPassword(_ password: String, of user: LoginName) async throws {
        let new = try record(password)
        try await change(user) {
            $0 = Account(password: new.password, credential: new.credential, sessionsFrom: $0.sessionsFrom)
        }
    }

    /// Ends all sessions of a user that started before a time, in seconds since 1970.
    func endSessions(of user: LoginName, before time: Int) async throws {
        try await change(user) { $0.sessionsFrom = max($0.sessionsFrom ?? 0, time) }
    }

    private func change(_ user: LoginName, _ change: (inout Account) -> Void) async throws {
        guard let old = try await documents.document(Self.name(user)) else { throw Self.unknown(user) }
        var account = try JSONDecoder().decode(Account.self, from: old)
        change(&account)
        let new = try JSON.encoder.encode(account)
        guard try await documents.setDocument(Self.name(user), to: new, ifWas: old) else {
            throw ServerError(
                .account,
                "the account of \(user.text) was changed at the same time",
                hint: "try again"
            )
        }
    }

    /// Removes a user; the relying party removes the devices.
    ///
    /// - Returns: Whether the user existed.
    func remove(_ user: LoginName) async throws -> Bool {
        guard let old = try await documents.document(Self.name(user)) else { return false }
        guard try await documents.setDocument(Self.name(user), to: nil, ifWas: old) else {
            throw ServerError(
                .account,
                "the account of \(user.text) was changed at the same time",
                hint: "try again"
            )
        }
        return true
    }

    /// Returns the error for a user who does not exist.
    static func unknown(_ user: LoginName) -> ServerError {
        ServerError(.account, "user \(user.text) does not exist", hint: "user list")
    }

    private func account(_ user: LoginName) async throws -> Account? {
        guard let bytes = try await documents.document(Self.name(user)) else { return nil }
        return try JSONDecoder().decode(Account.self, from: bytes)
    }

    private func record(_ password: String) throws -> Account {
        guard let prepared = PreparedPassword(password), prepared.isLongEnough else {
            throw ServerError(
                .account,
                "a password must have at least \(PreparedPassword.shortest) characters, at most \(PreparedPassword.longest) bytes, and no control characters",
                hint: "use a longer one; several words are easy to remember"
            )
        }
        let hash = try PasswordHash(prepared, cost: cost)
        let id = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        return Account(password: hash, credential: Base64URL.encode(id))
    }

    private static func name(_ user: LoginName) -> String { prefix + user.text }
}
