// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import LoginAssertion
public import RelyingParty

/// Sets up what a server works on, once: nothing else makes a database or a key file.
public struct InitCommand: Sendable {
    private let keyFile: String
    private let usesKeyFile: Bool

    /// Looks at the key file before anything is made.
    ///
    /// - Parameters:
    ///   - keyFile: The file that is to seal the signing keys.
    ///   - usesKeyFile: Takes the key file that is there, as where it comes from elsewhere; otherwise there may be none.
    /// - Throws: ``ServerError`` where there is a key file and none is to be, or the other way round.
    public init(keyFile: String, usesKeyFile: Bool) throws(ServerError) {
        self.keyFile = keyFile
        self.usesKeyFile = usesKeyFile
        if usesKeyFile {
            _ = try KeyFile.open(keyFile)
        } else if KeyFile.exists(keyFile) {
            throw ServerError(
                .keyFile,
                "there is a key file \(keyFile) already, so there was a database, too",
                hint:
                    "is its volume mounted, and --database right? For a new one with this key: --use-key-file"
            )
        }
    }

    /// Makes the key file and the first signing keys.
    ///
    /// - Throws: ``ServerError`` where the database was set up before, and the store's error.
    public func run(on store: any RelyingPartyStore) async throws {
        let documents = StoreDocuments(store: store)
        try await TokenKeyStore.requireNone(in: documents)
        let keys = TokenKeyStore(documents: documents, sealingKey: try KeyFile.openOrMake(keyFile))
        try await keys.create(at: Int(Date().timeIntervalSince1970))
    }
}

/// What an operator does with users; a server that runs on the same database sees it at once.
public struct AccountsCommand: Sendable {
    private let store: any RelyingPartyStore
    private let accounts: Accounts

    /// Works on a store.
    public init(store: any RelyingPartyStore) {
        self.store = store
        accounts = Accounts(documents: StoreDocuments(store: store))
    }

    /// Adds a user.
    ///
    /// Devices that an unfinished removal left behind are revoked first: they are not the new user's.
    public func add(_ user: LoginName, password: String) async throws {
        if try await accounts.credential(of: user) == nil { _ = try await revokeDevices(of: user) }
        try await accounts.add(user, password: password)
    }

    /// Sets a user's password: tokens that the old one gave are over, devices stay.
    public func setPassword(_ password: String, of user: LoginName) async throws {
        try await accounts.setPassword(password, of: user)
    }

    /// Removes a user and revokes all of their devices.
    ///
    /// Where it fails, it can be done again: it goes on with what is left.
    public func remove(_ user: LoginName) async throws {
        // The account first: with it a device could be enabled again.
        let hadAccount = try await accounts.remove(user)
        let devices = try await revokeDevices(of: user)
        guard hadAccount || !devices.isEmpty else { throw Accounts.unknown(user) }
    }

    private func revokeDevices(of user: LoginName) async throws -> [LoginName] {
        let entry = AuditEntry(
            at: Int(Date().timeIntervalSince1970),
            event: .revoked,
            user: user,
            device: nil,
            address: ""
        )
        return try await store.revoke(nil, audit: entry)
    }

    /// All users, in the order of their names.
    public func all() async throws -> [LoginName] { try await accounts.all() }
}

/// What an operator does with the keys that session tokens are signed with.
public struct KeysCommand: Sendable {
    private let keys: TokenKeyStore

    /// Works on a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - keyFile: The file that seals the keys.
    ///   - makesKeyFile: Makes the key file where there is none, for ``rotate(revoke:)`` that drops all keys.
    /// - Throws: ``ServerError`` where the key file cannot be used.
    public init(store: any RelyingPartyStore, keyFile: String, makesKeyFile: Bool = false) throws {
        keys = TokenKeyStore(
            documents: StoreDocuments(store: store),
            sealingKey: try makesKeyFile ? KeyFile.openOrMake(keyFile) : KeyFile.open(keyFile)
        )
    }

    /// Makes a new key.
    ///
    /// - Parameter revoke: Drops all others at once: all sessions are over. Servers that run see it within a minute; those
    ///   that have another key file than this one do no more work then.
    /// - Throws: ``ServerError`` where the key file does not open the others, unless they are dropped, and the store's error.
    public func rotate(revoke: Bool) async throws {
        let now = Int(Date().timeIntervalSince1970)
        if revoke {
            try await keys.replaceAll(at: now)
        } else {
            _ = try await keys.update(at: now) { $0.rotate(at: now) }
        }
    }
}
