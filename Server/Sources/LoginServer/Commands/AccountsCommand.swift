// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import LoginAssertion
public import RelyingParty

/// An operator's commands for users; a server running on the same database applies the changes immediately.
public struct AccountsCommand: Sendable {
    private let accounts: Accounts
    private let devices: DevicesCommand
    private let log: OperatorLog

    /// Creates the commands for a store.
    public init(store: any RelyingPartyStore) { self.init(store: store, cost: .standard) }

    /// Creates the commands with another password cost, reduced only in tests, for a program at an address.
    init(store: any RelyingPartyStore, cost: PasswordHash.Cost, address: String = "") {
        accounts = Accounts(documents: StoreDocuments(store: store), cost: cost)
        devices = DevicesCommand(store: store, address: address)
        log = OperatorLog(store: store, address: address)
    }

    /// Adds a user.
    ///
    /// Devices left behind by an unfinished removal are revoked first, because they do not belong to the new user.
    public func add(_ user: LoginName, password: String) async throws {
        if try await accounts.credential(of: user) == nil { _ = try await devices.revokeAll(of: user) }
        try await accounts.add(user, password: password)
        try await log.write(.userAdded, user)
    }

    /// Sets a user's password; tokens from the old one are no longer valid.
    ///
    /// - Parameters:
    ///   - password: The new password.
    ///   - user: The user.
    ///   - revokesDevices: Whether all devices are revoked as well, for example if someone else had the old password
    ///     and may have enabled devices.
    /// - Throws: ``ServerError`` if the user does not exist, and the store's error.
    public func setPassword(
        _ password: String,
        of user: LoginName,
        revokesDevices: Bool = false
    ) async throws {
        // The password is changed first, because the old one could enable a device again.
        try await accounts.setPassword(password, of: user)
        try await log.write(.passwordChanged, user)
        if revokesDevices { _ = try await devices.revokeAll(of: user) }
    }

    /// Ends all sessions of a user at this server: their tokens are no longer valid here.
    ///
    /// The devices and the password stay.
    ///
    /// - Throws: ``ServerError`` if the user does not exist, and the store's error.
    public func endSessions(of user: LoginName) async throws {
        // This includes tokens from the current second.
        let next = Int(Date().timeIntervalSince1970) + 1
        try await accounts.endSessions(of: user, before: next)
        try await log.write(.sessionsEnded, user)
    }

    /// Removes a user and revokes all of their devices.
    ///
    /// If it fails, repeating it removes the rest.
    public func remove(_ user: LoginName) async throws {
        // The account is removed first, because it could enable a device again.
        let hadAccount = try await accounts.remove(user)
        let revoked = try await devices.revokeAll(of: user)
        guard hadAccount || !revoked.isEmpty else { throw Accounts.unknown(user) }
        try await log.write(.userRemoved, user)
    }

    /// Returns all users, sorted by name.
    public func all() async throws -> [LoginName] { try await accounts.all() }
}
