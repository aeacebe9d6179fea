// SPDX-License-Identifier: Apache-2.0

import Crypto
package import FoundationEssentials
package import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
package import WhorlService

/// Functions that create, list and delete items.
extension Vault {
    /// Stores a secret.
    ///
    /// - Parameters:
    ///   - secret: The secret, 1 byte to 1 MiB in size.
    ///   - id: The identity of the secret, which must be new.
    ///   - access: The access control, which cannot be changed later.
    ///   - applicationPassword: The program's own password, if `access` requires one.
    /// - Throws: `itemExists`, `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`,
    ///   `applicationPasswordNeeded`, `noChip`, a storage error, or another TPM error.
    package func add(
        _ secret: SecretBox,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) {
        precondition(id.kind == .secret, "a secret is kept under the name of a secret")
        try await refuseTaken(id)
        let unique = ItemRow.newUnique()
        let identity = ItemRow.identity(id, unique: unique, access: access)
        let parts = try SecretEnvelope.close(secret, for: identity)
        try await sealing { authority throws(ServiceError) in
            let made = try await make(
                .sealed(parts.sealed),
                for: id.owner,
                access,
                applicationPassword,
                under: authority
            )
            try await keep(id, unique, access, made, body: parts.body)
        }
    }

    /// Creates a P-256 key that never leaves the TPM, or one for SSH.
    ///
    /// - Returns: The public half of the key.
    /// - Throws: The errors of ``add(_:as:access:applicationPassword:)``.
    @discardableResult
    package func createKey(
        _ id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox? = nil,
        rules: SSHKeyRules? = nil
    ) async throws(ServiceError) -> SigningKeyPublic {
        // Not reachable by a caller: both operations check the kind when the ID is decoded.
        precondition(id.kind != .secret, "a key is made under the name of a key")
        try await refuseTaken(id)
        return try await sealing { authority throws(ServiceError) in
            let made = try await make(
                .signingKey,
                for: id.owner,
                access,
                applicationPassword,
                under: authority
            )
            return try await keep(id, ItemRow.newUnique(), access, made, body: try rules?.encoded()).publicKey
        }
    }

    /// Returns the public half of a key, without a proof and without accessing the TPM.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, a storage error.
    package func publicKey(of id: ItemID) async throws(ServiceError) -> SigningKeyPublic {
        try await row(id).publicKey
    }

    /// Returns the rules of an SSH key without accessing the TPM.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, a storage error.
    package func rules(of id: ItemID) async throws(ServiceError) -> SSHKeyRules {
        guard id.kind == .sshKey else { throw ServiceError(.noSuchItem, id.spoken) }
        return try Self.rules(in: try await row(id))
    }

    private static func rules(in row: ItemRow) throws(ServiceError) -> SSHKeyRules {
        guard let body = row.body else { return .standard }
        guard let rules = SSHKeyRules(encoded: body) else {
            throw ServiceError(.itemTampered, row.id.spoken, cause: "the rules cannot be read")
        }
        return rules
    }

    /// Replaces the pins of an SSH key.
    ///
    /// - Throws: `noSuchItem`, also if the key was replaced in the meantime; `itemTampered`, a storage error.
    package func pin(_ id: ItemID, to pins: [SSHPin]) async throws(ServiceError) {
        guard id.kind == .sshKey else { throw ServiceError(.noSuchItem, id.spoken) }
        let old = try await row(id)
        var rules = try Self.rules(in: old)
        rules.pins = pins
        var new = old
        new.body = try rules.encoded()
        let (row, seal) = (new, seal)
        guard try await database.write(.full, { try row.replace(old, $0, seal) }) else {
            throw ServiceError(.noSuchItem, id.spoken)
        }
    }

    /// Returns the access control of an item without accessing the TPM.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, a storage error.
    package func access(of id: ItemID) async throws(ServiceError) -> AccessControl {
        try await row(id).access
    }

    /// Returns a profile's items (secrets, keys and SSH keys) in order of kind and name.
    ///
    /// The TPM is accessed only for items that are lost when their set of fingers changes. If the TPM cannot be
    /// reached, the state of such an item is `unknown`.
    ///
    /// - Throws: A storage error.
    package func items(of profile: String) async throws(ServiceError) -> [VaultItem] {
        let seal = seal
        let readings = try await database.read { try ItemRow.all(of: profile, $0, seal) }
        let rows = readings.compactMap(\.row)
        let standings = try await standings(of: rows, profile: profile)
        var known = zip(rows, standings).makeIterator()
        return readings.map { reading in reading.item(reading.row == nil ? nil : known.next()?.1) }
    }

    /// Deletes an item permanently, regardless of its state.
    ///
    /// - Throws: `noSuchItem`, a storage error.
    package func delete(_ id: ItemID) async throws(ServiceError) {
        guard try await database.write(.full, { try ItemRow.delete(id, $0) }) else {
            throw ServiceError(.noSuchItem, id.spoken)
        }
    }

    /// Deletes an item permanently, regardless of its state, if it was created at the given time.
    ///
    /// - Throws: `noSuchItem` (also if a different item has the same name) or a storage error.
    package func delete(_ id: ItemID, madeAt time: Date) async throws(ServiceError) {
        let seal = seal
        let isDeleted = try await database.write(.full) { db in
            // A damaged row has no time to compare.
            if case .sound(let row)? = try ItemRow.read(id, db, seal), row.createdAt != time { return false }
            return try ItemRow.delete(id, db)
        }
        guard isDeleted else { throw ServiceError(.noSuchItem, id.spoken) }
    }

    private func refuseTaken(_ id: ItemID) async throws(ServiceError) {
        guard try await !database.read({ try ItemRow.exists(id, $0) }) else {
            throw ServiceError(.itemExists, id.spoken)
        }
    }

    @discardableResult
    private func keep(
        _ id: ItemID,
        _ unique: Data,
        _ access: AccessControl,
        _ made: NewSealedItem,
        body: Data?
    ) async throws(ServiceError) -> ItemRow {
        let row = ItemRow(
            id: id,
            unique: unique,
            access: access,
            binding: made.binding,
            object: made.object,
            body: body,
            createdAt: time.now().date
        )
        let seal = seal
        guard try await database.write(.full, { try row.insert($0, seal) }) else {
            throw ServiceError(.itemExists, id.spoken)
        }
        return row
    }

    func row(_ id: ItemID) async throws(ServiceError) -> ItemRow {
        let seal = seal
        switch try await database.read({ try ItemRow.read(id, $0, seal) }) {
        case .sound(let row): return row
        case .tampered: throw ServiceError(.itemTampered, id.spoken, cause: "the row's MAC")
        case nil: throw ServiceError(.noSuchItem, id.spoken)
        }
    }
}

extension ItemRow.Reading {
    /// The row, or `nil` if Whorl did not write it.
    fileprivate var row: ItemRow? {
        switch self {
        case .sound(let row): row
        case .tampered: nil
        }
    }

    fileprivate func item(_ standing: VaultItem.Standing?) -> VaultItem {
        switch self {
        case .sound(let row):
            return VaultItem(
                id: row.id,
                access: row.access,
                createdAt: row.createdAt,
                standing: standing ?? .unknown
            )
        case .tampered(let id):
            return VaultItem(
                id: id,
                access: .none,
                createdAt: Date(timeIntervalSince1970: 0),
                standing: .tampered
            )
        }
    }
}
