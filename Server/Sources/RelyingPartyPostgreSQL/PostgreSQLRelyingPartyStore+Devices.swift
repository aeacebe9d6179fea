// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import LoginAssertion
public import RelyingParty

extension PostgreSQLRelyingPartyStore {
    /// See `RelyingPartyStore.register(_:using:provided:atMost:audit:)`.
    public func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            do throws(PostgreSQLFailure) {
                return try connection.transaction { connection throws(PostgreSQLFailure) in
                    try connection.register(device, nonce, condition, atMost: devicesPerUser, audit)
                }
            } catch {
                // Only the index of the key can conflict: an existing row of the same user and device is updated.
                guard error.isDuplicate else { throw error }
                return .keyInUse
            }
        }
    }

    /// See `RelyingPartyStore.device(_:of:)`.
    public func device(_ device: LoginName, of user: LoginName) async throws(RelyingPartyError)
        -> RegisteredDevice?
    {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try connection.run(PostgreSQLStatements.device, [.text(user.text), .text(device.text)])
                .devices(from: 0).first
        }
    }

    /// See `RelyingPartyStore.devices(of:)`.
    public func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try connection.run(
                "SELECT \(PostgreSQLStatements.deviceColumns) FROM whorl_login.devices"
                    + #" WHERE "user" = $1 ORDER BY enabled_at, device"#,
                [.text(user.text)]
            ).devices(from: 0)
        }
    }

    /// See `RelyingPartyStore.isActive(device:of:keyID:)`.
    public func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try connection.run(
                #"SELECT 1 FROM whorl_login.devices WHERE "user" = $1 AND device = $2 AND key_id = $3"#,
                [.text(user.text), .text(device.text), .text(keyID)]
            ).count == 1
        }
    }

    /// See `RelyingPartyStore.rename(_:to:audit:)`.
    public func rename(
        _ device: LoginName,
        to name: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            try connection.run(
                """
                WITH renamed AS (
                    UPDATE whorl_login.devices SET name = $7 WHERE "user" = $3 AND device = $8 RETURNING 1
                ) \(PostgreSQLAudit.insert(from: "renamed"))
                """,
                PostgreSQLAudit.values(audit) + [.text(name), .text(device.text)]
            ).changes == 1
        }
    }

    /// See `RelyingPartyStore.approve(_:keyID:audit:)`.
    public func approve(
        _ device: LoginName,
        keyID: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            try connection.run(
                """
                WITH approved AS (
                    UPDATE whorl_login.devices SET approved = $7
                        WHERE "user" = $3 AND device = $8 AND key_id = $9 RETURNING 1
                ) \(PostgreSQLAudit.insert(from: "approved"))
                """,
                PostgreSQLAudit.values(audit) + [
                    .text(RegisteredDevice.Approval.byOperator.text), .text(device.text), .text(keyID),
                ]
            ).changes == 1
        }
    }

    /// See `RelyingPartyStore.revoke(_:audit:)`.
    public func revoke(
        _ device: LoginName?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> [LoginName] {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            try connection.transaction { connection throws(PostgreSQLFailure) in
                // A simultaneous registration is either seen here, or waits and sees the removal.
                try connection.lock(audit.userText)
                let rows = try connection.run(
                    """
                    DELETE FROM whorl_login.devices WHERE "user" = $1 AND ($2 IS NULL OR device = $2)
                        RETURNING device
                    """,
                    [.text(audit.userText), .text(device?.text)]
                )
                var removed: [LoginName] = []
                for row in 0..<rows.count {
                    guard let name = rows.text(row, 0).flatMap(LoginName.init) else { continue }
                    try PostgreSQLAudit.write(audit.of(name), &connection)
                    removed.append(name)
                }
                return removed
            }
        }
    }
}

extension PostgreSQLConnection {
    /// Serializes changes of a user's devices until the transaction ends.
    fileprivate mutating func lock(_ user: String) throws(PostgreSQLFailure) {
        _ = try run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text(user)])
    }

    /// Returns whether a condition holds, and will hold until the transaction ends; the user is locked.
    private mutating func holds(
        _ condition: RegistrationCondition?,
        of user: LoginName
    ) throws(PostgreSQLFailure) -> Bool {
        switch condition {
        case nil: return true
        case .device(let device, let keyID):
            return try run(
                #"SELECT 1 FROM whorl_login.devices WHERE "user" = $1 AND device = $2 AND key_id = $3"#,
                [.text(user.text), .text(device.text), .text(keyID)]
            ).count == 1
        case .document(let name, let data):
            return try run("SELECT data FROM whorl_login.documents WHERE name = $1 FOR SHARE", [.text(name)])
                .bytes(0, 0) == data
        }
    }

    fileprivate mutating func register(
        _ device: RegisteredDevice,
        _ nonce: Nonce,
        _ condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        _ audit: AuditEntry
    ) throws(PostgreSQLFailure) -> Registration {
        // Two simultaneous registrations must not both use the user's last free place.
        try lock(device.user.text)
        guard try holds(condition, of: device.user) else { return .conditionFailed }
        let others = try run(
            #"SELECT count(*) FROM whorl_login.devices WHERE "user" = $1 AND device <> $2"#,
            [.text(device.user.text), .text(device.device.text)]
        ).int(0, 0)
        guard let others, others < devicesPerUser else { return .tooManyDevices }
        guard try use(nonce) else { return .challengeUsed }
        _ = try run(
            """
            INSERT INTO whorl_login.devices
                ("user", device, key_id, key, name, enabled_at, last_used_at, domain_state, approved,
                attested)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                ON CONFLICT ("user", device) DO UPDATE SET
                    key_id = excluded.key_id, key = excluded.key, name = excluded.name,
                    enabled_at = excluded.enabled_at, last_used_at = excluded.last_used_at,
                    domain_state = excluded.domain_state, approved = excluded.approved,
                    attested = excluded.attested
            """,
            [
                .text(device.user.text), .text(device.device.text), .text(device.keyID),
                .bytes(device.key.der), .text(device.name), .int(device.enabledAt),
                .int(device.lastUsedAt), .bytes(device.domainState), .text(device.approval?.text),
                .text(device.attestation?.text(of: device.key)),
            ]
        )
        try PostgreSQLAudit.write(audit, &self)
        return .registered
    }
}

extension PostgreSQLRows {
    /// Returns the rows of `devices`, whose columns start at `first`.
    func devices(from first: Int) throws(PostgreSQLFailure) -> [RegisteredDevice] {
        var devices: [RegisteredDevice] = []
        for row in 0..<count {
            guard let user = text(row, first).flatMap(LoginName.init),
                let device = text(row, first + 1).flatMap(LoginName.init),
                let key = bytes(row, first + 3).flatMap(LoginKey.init(der:)), key.id == text(row, first + 2),
                let name = text(row, first + 4), let enabledAt = int(row, first + 5)
            else { throw PostgreSQLFailure(state: "", text: "a row of devices is damaged") }
            devices.append(
                RegisteredDevice(
                    user: user,
                    device: device,
                    key: key,
                    name: name,
                    enabledAt: enabledAt,
                    lastUsedAt: int(row, first + 6),
                    domainState: bytes(row, first + 7),
                    // An unknown approval, written by a newer version, does not count.
                    approval: text(row, first + 8).flatMap(RegisteredDevice.Approval.init(text:)),
                    attestation: text(row, first + 9).flatMap { KeyAttestation(text: $0, of: key) }
                )
            )
        }
        return devices
    }
}
