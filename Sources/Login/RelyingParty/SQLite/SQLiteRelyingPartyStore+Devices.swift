// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
public import LoginAssertion

extension SQLiteRelyingPartyStore {
    /// See ``RelyingPartyStore/register(_:using:provided:atMost:audit:)``.
    public func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration {
        try await write(.full) { db in
            guard try db.holds(condition, of: device.user) else { return .conditionFailed }
            let holder = try db.fetchOne(
                Row.self,
                "SELECT user, device FROM devices WHERE key_id = ?",
                [device.keyID]
            )
            if let holder, LoginName(holder[0]) != device.user || LoginName(holder[1]) != device.device {
                return .keyInUse
            }
            let others = try db.fetchOne(
                Int.self,
                "SELECT count(*) FROM devices WHERE user = ? AND device <> ?",
                [device.user.text, device.device.text]
            )
            guard let others, others < devicesPerUser else { return .tooManyDevices }
            guard try db.use(nonce) else { return .challengeUsed }
            try db.run(
                """
                INSERT OR REPLACE INTO devices
                    (user, device, key_id, key, name, enabled_at, last_used_at, domain_state, approved,
                    attested)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    device.user.text, device.device.text, device.keyID, device.key.der, device.name,
                    device.enabledAt, device.lastUsedAt, device.domainState, device.approval?.text,
                    device.attestation?.text(of: device.key),
                ]
            )
            try db.write(audit)
            return .registered
        }
    }

    /// See ``RelyingPartyStore/device(_:of:)``.
    public func device(_ device: LoginName, of user: LoginName) async throws(RelyingPartyError)
        -> RegisteredDevice?
    {
        try await read { db in
            try db.fetchOne(Row.self, SQLiteStatements.device, [user.text, device.text])
                .map(RegisteredDevice.init)
        }
    }

    /// See ``RelyingPartyStore/devices(of:)``.
    public func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] {
        try await read { db in
            try db.fetchAll(SQLiteStatements.devices, [user.text]).map(RegisteredDevice.init)
        }
    }

    /// See ``RelyingPartyStore/isActive(device:of:keyID:)``.
    public func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool {
        try await read { db in
            try db.fetchOne(Bool.self, SQLiteStatements.isActive, [user.text, device.text, keyID]) == true
        }
    }

    /// See ``RelyingPartyStore/rename(_:to:audit:)``.
    public func rename(
        _ device: LoginName,
        to name: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool {
        try await write(.full) { db in
            try db.run(
                "UPDATE devices SET name = ? WHERE user = ? AND device = ?",
                [name, audit.userText, device.text]
            )
            guard db.changesCount == 1 else { return false }
            try db.write(audit)
            return true
        }
    }

    /// See ``RelyingPartyStore/approve(_:keyID:audit:)``.
    public func approve(
        _ device: LoginName,
        keyID: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool {
        try await write(.full) { db in
            try db.run(
                "UPDATE devices SET approved = ? WHERE user = ? AND device = ? AND key_id = ?",
                [RegisteredDevice.Approval.byOperator.text, audit.userText, device.text, keyID]
            )
            guard db.changesCount == 1 else { return false }
            try db.write(audit)
            return true
        }
    }

    /// See ``RelyingPartyStore/revoke(_:audit:)``.
    public func revoke(
        _ device: LoginName?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> [LoginName] {
        try await write(.full) { db in
            // `IS NULL` is true for all devices if none is specified.
            let rows = try db.fetchAll(
                "DELETE FROM devices WHERE user = ?1 AND (?2 IS NULL OR device = ?2) RETURNING device",
                [audit.userText, device?.text]
            )
            return try rows.compactMap { row in
                guard let removed = LoginName(row[0]) else { return nil }
                try db.write(audit.of(removed))
                return removed
            }
        }
    }
}

extension Database {
    fileprivate func holds(_ condition: RegistrationCondition?, of user: LoginName) throws -> Bool {
        switch condition {
        case nil: true
        case .device(let device, let keyID):
            try fetchOne(Bool.self, SQLiteStatements.isActive, [user.text, device.text, keyID]) == true
        case .document(let name, let data):
            try fetchOne(Data.self, SQLiteStatements.document, [name]) == data
        }
    }
}

extension RegisteredDevice {
    /// Creates a device from a row of `devices`.
    init(_ row: Row) throws {
        guard let user = LoginName(row["user"]), let device = LoginName(row["device"]),
            let key = LoginKey(der: row["key"]), key.id == row["key_id"]
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of devices") }
        let approval: String? = row["approved"]
        let attestation: String? = row["attested"]
        self.init(
            user: user,
            device: device,
            key: key,
            name: row["name"],
            enabledAt: row["enabled_at"],
            lastUsedAt: row["last_used_at"],
            domainState: row["domain_state"],
            // An unknown approval, written by a newer version, does not count.
            approval: approval.flatMap(RegisteredDevice.Approval.init(text:)),
            attestation: attestation.flatMap { KeyAttestation(text: $0, of: key) }
        )
    }
}
