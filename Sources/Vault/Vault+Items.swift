// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
public import SecretMemory
import StateStore
import TPM

/// Making, listing and deleting items.
extension Vault {
    /// Keeps a secret.
    ///
    /// - Parameters:
    ///   - secret: 1 byte to 1 MiB.
    ///   - id: Its name; there is no secret of it yet.
    ///   - access: What opens it, for good.
    ///   - applicationPassword: The program's own password, where `access` takes one.
    /// - Throws: `itemExists`, `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`,
    ///   `applicationPasswordNeeded`, `noChip`, `store`, and what else the chip reports.
    public func add(
        _ secret: SecretBox,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) {
        precondition(id.kind == .secret, "a secret is kept under the name of a secret")
        let unique = SecretBytes(randomCount: 16).withUnsafeBytes { Data($0) }
        let identity = ItemRow.identity(id, unique: unique, access: access)
        let parts = try SecretEnvelope.close(secret, for: identity)
        try await make(id, unique, access, applicationPassword, body: parts.body) {
            commands,
            authority,
            policy,
            password throws(TPMError) in
            try commands.seal(parts.sealed, under: authority.root, policy: policy, auth: password)
        }
    }

    /// Makes a P-256 key in the chip, which never leaves it.
    ///
    /// - Returns: Its public half.
    /// - Throws: as ``add(_:as:access:applicationPassword:)``.
    @discardableResult
    public func createKey(
        _ id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> SigningKeyPublic {
        precondition(id.kind == .key, "a key is made under the name of a key")
        let unique = SecretBytes(randomCount: 16).withUnsafeBytes { Data($0) }
        let row = try await make(id, unique, access, applicationPassword, body: nil) {
            commands,
            authority,
            policy,
            password throws(TPMError) in
            try commands.createSigningKey(under: authority.root, policy: policy, auth: password)
        }
        return try row.publicKey
    }

    /// The public half of a key; nothing has to be shown, and the chip is not asked.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, `store`.
    public func publicKey(of id: ItemID) async throws(VaultError) -> SigningKeyPublic {
        try await row(id).publicKey
    }

    /// What opens an item; the chip is not asked.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, `store`.
    public func access(of id: ItemID) async throws(VaultError) -> AccessControl { try await row(id).access }

    /// The profile's items, secrets and keys, by kind and name.
    ///
    /// - Throws: `store`; the chip's failure only where an item is bound to a set of fingers.
    public func items(of profile: String) async throws(VaultError) -> [VaultItem] {
        let seal = seal
        let readings = try await read { try ItemRow.all(of: profile, $0, seal) }
        let bound = readings.contains { $0.binding?.generation != nil }
        let present = bound ? try? await presentGeneration(of: profile) : nil
        return readings.map { $0.item(at: present) }
    }

    /// Deletes an item for good, whatever state it is in.
    ///
    /// - Throws: `noSuchItem`, `store`.
    public func delete(_ id: ItemID) async throws(VaultError) {
        guard try await write({ try ItemRow.delete(id, $0) }) else {
            throw VaultError(.noSuchItem, id.spoken)
        }
    }

    func row(_ id: ItemID) async throws(VaultError) -> ItemRow {
        let seal = seal
        switch try await read({ try ItemRow.read(id, $0, seal) }) {
        case .sound(let row): return row
        case .tampered: throw VaultError(.itemTampered, id.spoken, cause: "the row's MAC")
        case nil: throw VaultError(.noSuchItem, id.spoken)
        }
    }

    @discardableResult
    private func make(
        _ id: ItemID,
        _ unique: Data,
        _ access: AccessControl,
        _ password: SecretBox?,
        body: Data?,
        _ create:
            @Sendable (borrowing TPMCommands, VaultAuthority, PolicyDigest, SecretBox?) throws(TPMError) ->
            TPMObject
    ) async throws(VaultError) -> ItemRow {
        guard try await !read({ try ItemRow.exists(id, $0) }) else {
            throw VaultError(.itemExists, id.spoken)
        }
        let authority = try await provisionedAuthority()
        let (binding, authorization) = try await binding(id, access, password)
        guard let policy = ItemPolicy.policy(access, binding, authority: authority.object.name) else {
            throw VaultError(.accessRefused("it cannot be bound"))
        }
        let digest = policy.digest
        let object = try await chip(about: id.spoken) { commands throws(TPMError) in
            try create(commands, authority, digest, authorization)
        }
        let row = ItemRow(
            id: id,
            unique: unique,
            access: access,
            binding: binding,
            object: object,
            body: body,
            createdAt: time.now().date
        )
        let seal = seal
        guard try await write({ try row.insert($0, seal) }) else {
            throw VaultError(.itemExists, id.spoken)
        }
        return row
    }

    /// What the policy of a new item names, and the item's own authorization value.
    private func binding(
        _ id: ItemID,
        _ access: AccessControl,
        _ password: SecretBox?
    ) async throws(VaultError) -> (ItemBinding, SecretBox?) {
        var binding = ItemBinding()
        if access.takesPasscode {
            guard let passcode = try await passcode(of: id.profile) else {
                throw VaultError(.passcodeNotSet, id.profile)
            }
            binding.passcode = passcode.object.name
        }
        if access.isBoundToCurrentSet {
            binding.generation = try await presentGeneration(of: id.profile)
        }
        if let pcrs = access.pcrs { binding.boot = try await measurements(pcrs) }
        guard access.needsApplicationPassword else { return (binding, nil) }
        guard let password else { throw VaultError(.applicationPasswordNeeded, id.spoken) }
        let derivation = PasscodeDerivation()
        binding.applicationPassword = derivation
        return (binding, try await derivation.authorization(ofApplicationPassword: password))
    }

    /// The digest of the registers as they are now, 32 bytes.
    func measurements(_ pcrs: BootRegisters) async throws(VaultError) -> Data {
        try await chip { commands throws(TPMError) in
            Data(try commands.readPCRs(try pcrs.selection).digest)
        }
    }
}

extension ItemRow {
    /// The public half of a key.
    var publicKey: SigningKeyPublic {
        get throws(VaultError) {
            guard id.kind == .key, let point = object.publicPoint, let key = SigningKeyPublic(point) else {
                throw VaultError(.itemTampered, id.spoken, cause: "no P-256 key")
            }
            return key
        }
    }
}

extension ItemRow.Reading {
    fileprivate var binding: ItemBinding? {
        switch self {
        case .sound(let row): row.binding
        case .tampered: nil
        }
    }

    fileprivate func item(at present: ItemBinding.Generation?) -> VaultItem {
        switch self {
        case .sound(let row):
            let changed = row.binding.generation.map { $0 != present } ?? false
            return VaultItem(
                id: row.id,
                access: row.access,
                createdAt: row.createdAt,
                // An item that another way still opens is not dead.
                standing: changed && row.access.isDeadWithItsSet ? .enrollmentChanged : .valid
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
