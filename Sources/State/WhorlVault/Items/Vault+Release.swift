// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
package import WhorlService

/// Functions that release secrets and signatures when an item's access control is satisfied.
extension Vault {
    /// Returns a secret.
    ///
    /// - Parameters:
    ///   - id: The identity of the secret.
    ///   - proof: The owner's proof.
    ///   - applicationPassword: The program's own password, if the item requires one.
    /// - Returns: The secret, in locked memory.
    /// - Throws: `noSuchItem`, `accessDenied`, `enrollmentChanged`, `measuredBootChanged`, `itemTampered`,
    ///   `applicationPasswordNeeded`, `applicationPasswordWrong`, `chipLockedOut`, `chipCleared`, `noChip`, a storage
    ///   error.
    package func secret(
        _ id: ItemID,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> SecretBox {
        guard id.kind == .secret else { throw ServiceError(.noSuchItem, id.spoken) }
        return try await secret(of: try await row(id), proof, applicationPassword)
    }

    /// Signs a digest with a key.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 digest of the message (32 bytes).
    ///   - id: The identity of the key.
    ///   - proof: The owner's proof.
    ///   - applicationPassword: The program's own password, if the key requires one.
    /// - Returns: The signature.
    /// - Throws: `digestWrongSize`, or the errors of ``secret(_:shown:applicationPassword:)``.
    package func sign(
        digest: Data,
        with id: ItemID,
        shown proof: OwnerProof,
        applicationPassword: SecretBox? = nil
    ) async throws(ServiceError) -> Signature {
        guard id.kind == .key else { throw ServiceError(.noSuchItem, id.spoken) }
        return try await signature(over: digest, with: try await row(id), proof, applicationPassword)
    }

    /// Signs the digest of a request of SSH with an SSH key.
    ///
    /// Only the engine calls it, after it has parsed the request and shown what it is. ``sign(digest:with:shown:applicationPassword:)``
    /// refuses SSH keys.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 digest of the request (32 bytes).
    ///   - id: The identity of the SSH key.
    ///   - proof: The owner's proof.
    /// - Returns: The signature.
    /// - Throws: The errors of ``secret(_:shown:applicationPassword:)``.
    package func sign(
        requestDigest digest: Data,
        with id: ItemID,
        shown proof: OwnerProof
    ) async throws(ServiceError) -> Signature {
        guard id.kind == .sshKey else { throw ServiceError(.noSuchItem, id.spoken) }
        return try await signature(over: digest, with: try await row(id), proof, nil)
    }

    /// Binds a profile's secrets to the current boot measurements.
    ///
    /// Keys cannot be bound again. They are unchanged and require the passcode from then on.
    ///
    /// - Parameters:
    ///   - profile: The profile of the secrets.
    ///   - proof: The proof of the passcode. A finger is not required, because the secrets are not released.
    /// - Returns: The secrets that were bound again and the keys that are unchanged.
    /// - Throws: `accessDenied` without a proof of the passcode, or the errors of
    ///   ``secret(_:shown:applicationPassword:)``.
    package func reseal(_ profile: String, shown proof: OwnerProof) async throws(ServiceError) -> Resealing {
        guard proof.profile == profile, proof.passcode != nil else {
            throw ServiceError(.accessDenied, profile, cause: "binding it again requires the passcode")
        }
        let seal = seal
        var result = Resealing()
        for case .sound(let row) in try await database.read({ try ItemRow.all(of: profile, $0, seal) }) {
            guard let pcrs = row.access.pcrs else { continue }
            let present = try await measurements(pcrs)
            if row.binding.boot == present { continue }
            guard row.id.kind == .secret, !row.access.needsApplicationPassword else {
                result.unchanged.append(row.id)
                continue
            }
            do {
                try await bind(row, to: present, proof)
                result.resealed.append(row.id)
            } catch {
                guard error.isAboutTheItem else { throw error }
                result.dead.append(row.id)
            }
        }
        return result
    }

    private func bind(_ row: ItemRow, to boot: Data, _ proof: OwnerProof) async throws(ServiceError) {
        guard let finger = proof.and(OwnerProof(profile: proof.profile, showsFinger: true)) else { return }
        // Only the part that the TPM sealed is sealed again; the body of a large secret is unchanged.
        let sealed = try await unseal(row, finger, nil)
        var bound = row
        bound.binding.boot = boot
        let authority = try await provisionedAuthority()
        guard let policy = ItemPolicy.policy(row.access, bound.binding, authority: authority.object.name)
        else {
            throw ServiceError(.itemTampered, row.id.spoken)
        }
        let digest = policy.digest
        bound.object = try await chip(about: row.id.spoken) { commands throws(TPMError) in
            try commands.create(.sealed(sealed), under: authority.root, policy: digest)
        }
        // An item that has been deleted in the meantime stays deleted.
        _ = try await database.write(.full) { [bound, seal] db in try bound.replace(row, db, seal) }
    }
}

extension ServiceError {
    /// Whether the error concerns only this item, so that using other items may still succeed.
    fileprivate var isAboutTheItem: Bool {
        switch code {
        case .enrollmentChanged, .itemTampered, .accessDenied: true
        default: false
        }
    }
}
