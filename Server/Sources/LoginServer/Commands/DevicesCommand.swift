// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import RelyingParty

/// An operator's commands for devices and for the audit log.
public struct DevicesCommand: Sendable {
    private let store: any RelyingPartyStore
    private let log: OperatorLog

    /// Creates the commands for a store.
    public init(store: any RelyingPartyStore) { self.init(store: store, address: "") }

    /// Creates the commands for a store, for a program at an address.
    init(store: any RelyingPartyStore, address: String) {
        self.store = store
        log = OperatorLog(store: store, address: address)
    }

    /// Returns the devices of a user, oldest first.
    public func list(of user: LoginName) async throws -> [RegisteredDevice] {
        try await store.devices(of: user)
    }

    /// Approves a device's key: from now on its tokens contain `mfa` if the password was used as well.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - user: The owner of the device.
    ///   - keyID: The key, as shown by the device itself: someone else's key under the same name is not approved.
    /// - Throws: ``ServerError`` if the user has no such device with this key, and the store's error.
    public func approve(_ device: LoginName, of user: LoginName, keyID: String) async throws {
        let entry = log.entry(.approved, user, device)
        guard try await store.approve(device, keyID: keyID, audit: entry) else {
            throw ServerError(
                .account,
                "\(user.text) has no device \(device.text) with key \(keyID)",
                hint: "compare device list \(user.text) with `whorl login status --json` on the device"
            )
        }
    }

    /// Revokes a device: it can no longer sign in, and its tokens are no longer valid at this server.
    ///
    /// - Throws: ``ServerError`` if the user has no such device, and the store's error.
    public func revoke(_ device: LoginName, of user: LoginName) async throws {
        let revoked = try await store.revoke(device, audit: log.entry(.revoked, user))
        guard !revoked.isEmpty else { throw Self.unknown(device, user) }
    }

    /// Revokes all devices of a user.
    ///
    /// - Returns: The revoked devices.
    public func revokeAll(of user: LoginName) async throws -> [LoginName] {
        try await store.revoke(nil, audit: log.entry(.revoked, user))
    }

    /// Returns the newest entries of the audit log, newest first.
    ///
    /// - Parameters:
    ///   - user: The user of the entries; `nil` for all users.
    ///   - count: The maximum number of entries.
    /// - Returns: The entries.
    /// - Throws: The store's error.
    public func audit(of user: LoginName?, atMost count: Int) async throws -> [AuditEntry] {
        try await store.audit(of: user, atMost: count)
    }

    static func unknown(_ device: LoginName, _ user: LoginName) -> ServerError {
        ServerError(.account, "\(user.text) has no device \(device.text)", hint: "device list \(user.text)")
    }
}
