// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
public import SecretMemory
import StateStore
import TPM

/// Items that lie with a keeper of their own: the vault makes and opens them, and stores nothing.
///
/// Of a ``SealedItem`` only the bytes are believed, and those only behind their MAC.
extension Vault {
    /// Seals a secret.
    ///
    /// - Parameters:
    ///   - secret: 1 byte to 1 MiB.
    ///   - profile: Whose secret.
    ///   - access: What opens it, for good.
    ///   - applicationPassword: The program's own password, where `access` takes one.
    /// - Returns: What its keeper stores.
    /// - Throws: `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`, `applicationPasswordNeeded`,
    ///   `noChip`, `store`, and what else the chip reports.
    public func seal(
        _ secret: SecretBox,
        of profile: String,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> SealedItem {
        let parts = try SecretEnvelope.close(secret, for: LooseItem.identity(of: profile, access))
        let owner = LooseItem.owner(.secret, of: profile)
        let made = try await sealing { authority throws(VaultError) in
            try await make(owner, access, applicationPassword, under: authority) {
                commands,
                root,
                policy,
                password throws(TPMError) in
                try commands.seal(parts.sealed, under: root, policy: policy, auth: password)
            }
        }
        return try sealed(profile, access, made, body: parts.body)
    }

    /// Makes a P-256 key in the chip, which never leaves it; it signs, and agrees on secrets with others' public keys.
    ///
    /// - Parameters:
    ///   - profile: Whose key.
    ///   - access: What opens it, for good.
    ///   - applicationPassword: The program's own password, where `access` takes one.
    /// - Returns: What its keeper stores.
    /// - Throws: as ``seal(_:of:access:applicationPassword:)``.
    public func makeKey(
        of profile: String,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> SealedItem {
        let owner = LooseItem.owner(.key, of: profile)
        let made = try await sealing { authority throws(VaultError) in
            try await make(owner, access, applicationPassword, under: authority) {
                commands,
                root,
                policy,
                password throws(TPMError) in
                try commands.createAgreementKey(under: root, policy: policy, auth: password)
            }
        }
        return try sealed(profile, access, made, body: nil)
    }

    /// What opens a sealed item, as this vault has bound it; the chip is not asked.
    ///
    /// - Throws: `itemTampered` for one that was edited, or made for another vault.
    public func access(of item: SealedItem) throws(VaultError) -> AccessControl { try loose(item).access }

    /// Gives a sealed secret.
    ///
    /// - Parameters:
    ///   - item: The secret.
    ///   - proof: What the owner has shown.
    ///   - applicationPassword: The program's own password, where the item takes one.
    /// - Returns: The secret, in locked memory.
    /// - Throws: `itemTampered`, `noSuchItem` for a key, `accessDenied`, `enrollmentChanged`, `measuredBootChanged`,
    ///   `applicationPasswordNeeded`, `applicationPasswordWrong`, `passcodeWrong`, `chipLockedOut`, `chipCleared`,
    ///   `noChip`, `store`.
    public func secret(
        in item: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> SecretBox {
        try await secret(of: try loose(item, .secret), proof, applicationPassword)
    }

    /// Signs a digest with a sealed key.
    ///
    /// - Parameters:
    ///   - digest: SHA-256 of the message, 32 bytes.
    ///   - key: The key.
    ///   - proof: What the owner has shown.
    ///   - applicationPassword: The program's own password, where the key takes one.
    /// - Returns: The signature.
    /// - Throws: `digestWrongSize`, `noSuchItem` for a secret, and as ``secret(in:shown:applicationPassword:)``.
    public func sign(
        digest: Data,
        with key: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> Signature {
        try await signature(over: digest, with: try loose(key, .key), proof, applicationPassword)
    }

    /// Multiplies another's public key with a sealed key, in the chip.
    ///
    /// - Parameters:
    ///   - publicKey: The other's, as ANSI X9.63 (4, x, y; 65 bytes).
    ///   - key: The key.
    ///   - proof: What the owner has shown.
    ///   - applicationPassword: The program's own password, where the key takes one.
    /// - Returns: The X coordinate of the product, 32 bytes, in locked memory.
    /// - Throws: `publicKeyRefused`, also when the chip finds it not to be a point of the curve; `noSuchItem` for a
    ///   secret; and as ``secret(in:shown:applicationPassword:)``.
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(VaultError) -> SecretBox {
        try await sharedSecret(with: publicKey, of: try loose(key, .key), proof, applicationPassword)
    }

    /// Refuses what is no point of P-256, before anybody is asked for anything; the chip checks again.
    ///
    /// - Throws: `publicKeyRefused`.
    package static func check(publicKey: Data) throws(VaultError) {
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: publicKey)) != nil else {
            throw VaultError(.publicKeyRefused)
        }
    }

    /// How sealed items stand, in their order.
    ///
    /// The chip is asked only where the database says that a set of fingers is another one: it has the last word. Where it
    /// cannot answer, such an item is told as unknown.
    ///
    /// - Parameters:
    ///   - items: What the keeper stores.
    ///   - profile: Whose items they shall be; another's are told as tampered with.
    ///   - generation: How often the profile's set of fingers has changed, as the database has it.
    /// - Returns: One answer for each.
    /// - Throws: `store`.
    public func standing(
        of items: [SealedItem],
        profile: String,
        generation: UInt64
    ) async throws(VaultError) -> [VaultItem.Standing] {
        let present = try await pinnedCounter(of: profile).map { row, counter in
            ItemBinding.Generation(counter: counter, value: row.value(at: generation))
        }
        // What is no item of this vault is told as such, for whatever reason.
        let loose = items.map { item in
            (try? self.loose(item)).flatMap { $0.profile == profile ? $0 : nil }
        }
        let doubtful = loose.compactMap(\.self).filter { $0.binding.generation != present }
        let asked = try await standings(of: doubtful, profile: profile)
        let known = Dictionary(zip(doubtful.map(\.encoded), asked)) { first, _ in first }
        return loose.map { item in
            guard let item else { return .tampered }
            return known[item.encoded] ?? .valid
        }
    }

    private func sealed(
        _ profile: String,
        _ access: AccessControl,
        _ made: MadeItem,
        body: Data?
    ) throws(VaultError) -> SealedItem {
        // Read back as its keeper will give it.
        try SealedItem(encoded: LooseItem(of: profile, access, made, body: body, seal).encoded)
    }

    private func loose(_ item: SealedItem, _ kind: ItemKind) throws(VaultError) -> LooseItem {
        let loose = try loose(item)
        guard loose.kind == kind else { throw VaultError(.noSuchItem, "sealed \(kind.rawValue)") }
        return loose
    }

    private func loose(_ item: SealedItem) throws(VaultError) -> LooseItem {
        guard let loose = LooseItem(encoded: item.encoded), loose.isAuthentic(seal) else {
            throw VaultError(.itemTampered, "sealed \(item.kind.rawValue)", cause: "its MAC")
        }
        return loose
    }
}
