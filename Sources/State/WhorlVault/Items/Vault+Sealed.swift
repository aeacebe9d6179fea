// SPDX-License-Identifier: Apache-2.0

import Crypto
package import FoundationEssentials
package import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
package import WhorlService

/// Functions for items that the callers store. The vault creates and unlocks these items but does not store them.
///
/// The vault trusts only the bytes of a ``SealedItem``, and only after it has checked their MAC.
extension Vault {
    /// Seals a secret.
    ///
    /// - Parameters:
    ///   - secret: The secret, 1 byte to 1 MiB in size.
    ///   - profile: The profile that owns the secret.
    ///   - access: The access control, which cannot be changed later.
    ///   - applicationPassword: The program's own password, if `access` requires one.
    /// - Returns: The item, which the caller stores.
    /// - Throws: `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`, `applicationPasswordNeeded`,
    ///   `noChip`, a storage error, or another TPM error.
    package func seal(
        _ secret: SecretBox,
        of profile: String,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> SealedItem {
        let parts = try SecretEnvelope.close(secret, for: DetachedItem.identity(of: profile, access))
        let owner = DetachedItem.owner(.secret, of: profile)
        let made = try await sealing { authority throws(ServiceError) in
            try await make(.sealed(parts.sealed), for: owner, access, applicationPassword, under: authority)
        }
        return try sealed(profile, access, made, body: parts.body)
    }

    /// Creates a P-256 key that never leaves the TPM, for signatures and shared secrets.
    ///
    /// - Parameters:
    ///   - profile: The profile that owns the key.
    ///   - access: The access control, which cannot be changed later.
    ///   - applicationPassword: The program's own password, if `access` requires one.
    /// - Returns: The item, which the caller stores.
    /// - Throws: The errors of ``seal(_:of:access:applicationPassword:)``.
    package func makeKey(
        of profile: String,
        access: AccessControl,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> SealedItem {
        let owner = DetachedItem.owner(.key, of: profile)
        let made = try await sealing { authority throws(ServiceError) in
            try await make(.agreementKey, for: owner, access, applicationPassword, under: authority)
        }
        return try sealed(profile, access, made, body: nil)
    }

    /// Returns the access control that this vault bound to a sealed item, without accessing the TPM.
    ///
    /// - Throws: `itemTampered` if the item was edited or was created for another vault.
    package func access(of item: SealedItem) throws(ServiceError) -> AccessControl { try loose(item).access }

    /// Returns a sealed secret.
    ///
    /// - Parameters:
    ///   - item: The secret.
    ///   - proof: The owner's proof.
    ///   - applicationPassword: The program's own password, if the item requires one.
    /// - Returns: The secret, in locked memory.
    /// - Throws: `itemTampered`, `noSuchItem` if the item is a key, `accessDenied`, `enrollmentChanged`,
    ///   `measuredBootChanged`, `applicationPasswordNeeded`, `applicationPasswordWrong`, `passcodeWrong`,
    ///   `chipLockedOut`, `chipCleared`, `noChip`, a storage error.
    package func secret(
        in item: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> SecretBox {
        try await secret(of: try loose(item, .secret), proof, applicationPassword)
    }

    /// Signs a digest with a sealed key.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 digest of the message (32 bytes).
    ///   - key: The key.
    ///   - proof: The owner's proof.
    ///   - applicationPassword: The program's own password, if the key requires one.
    /// - Returns: The signature.
    /// - Throws: `digestWrongSize`, `noSuchItem` if the item is a secret, or the errors of
    ///   ``secret(in:shown:applicationPassword:)``.
    package func sign(
        digest: Data,
        with key: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> Signature {
        try await signature(over: digest, with: try loose(key, .key), proof, applicationPassword)
    }

    /// Multiplies another party's public key by a sealed key in the TPM.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's public key in the uncompressed ANSI X9.63 format, which consists of the byte 4,
    ///     x and y (65 bytes).
    ///   - key: The key.
    ///   - proof: The owner's proof.
    ///   - applicationPassword: The program's own password, if the key requires one.
    /// - Returns: The X coordinate of the product (32 bytes), in locked memory.
    /// - Throws: `publicKeyRefused` (also if the TPM finds that the key is not a point on the curve), `noSuchItem` if
    ///   the item is a secret, or the errors of ``secret(in:shown:applicationPassword:)``.
    package func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> SecretBox {
        try await sharedSecret(with: publicKey, of: try loose(key, .key), proof, applicationPassword)
    }

    /// Rejects a public key that is not a point on P-256 before the user is prompted.
    ///
    /// The TPM checks the key again.
    ///
    /// - Throws: `publicKeyRefused`.
    package static func check(publicKey: Data) throws(ServiceError) {
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: publicKey)) != nil else {
            throw ServiceError(.publicKeyRefused)
        }
    }

    /// Returns the states of sealed items, in the order of the items.
    ///
    /// The TPM is accessed only if a set of fingers has changed according to the database, and then makes the decision.
    /// If the TPM cannot be reached, the state of such an item is `unknown`.
    ///
    /// - Parameters:
    ///   - items: The stored items.
    ///   - profile: The profile that must own the items. The state of another profile's items is `tampered`.
    ///   - generation: The number of changes to the profile's set of fingers, according to the database.
    /// - Returns: One state for each item.
    /// - Throws: A storage error.
    package func standing(
        of items: [SealedItem],
        profile: String,
        generation: UInt64
    ) async throws(ServiceError) -> [VaultItem.Standing] {
        let present = try await pinnedCounter(of: profile).map { row, counter in
            ItemBinding.Generation(counter: counter, value: row.value(at: generation))
        }
        // Anything that is not an item of this vault and profile is reported as tampered with, regardless of the
        // reason.
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

    func sealed(
        _ profile: String,
        _ access: AccessControl,
        _ made: NewSealedItem,
        body: Data?
    ) throws(ServiceError) -> SealedItem {
        // Decode the bytes in the form that the caller will pass later.
        try SealedItem(encoded: DetachedItem(of: profile, access, made, body: body, seal).encoded)
    }

    private func loose(_ item: SealedItem, _ kind: ItemKind) throws(ServiceError) -> DetachedItem {
        let loose = try loose(item)
        guard loose.kind == kind else { throw ServiceError(.noSuchItem, "sealed \(kind.rawValue)") }
        return loose
    }

    private func loose(_ item: SealedItem) throws(ServiceError) -> DetachedItem {
        guard let loose = DetachedItem(encoded: item.encoded), loose.isAuthentic(seal) else {
            throw ServiceError(.itemTampered, "sealed \(item.kind.rawValue)", cause: "its MAC")
        }
        return loose
    }
}
