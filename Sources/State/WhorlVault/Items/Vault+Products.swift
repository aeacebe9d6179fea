// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import WhorlTPM
import WhorlService

/// The products of an item, wherever the item is stored.
extension Vault {
    /// Returns the bytes that the chip has sealed: the secret, or the key of a large one.
    func unseal(
        _ item: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(VaultError) -> SecretBox {
        try await use(item, proof, password) { commands, authority, policy, credentials throws(TPMError) in
            SecretBox(
                try commands.unseal(
                    item.object,
                    under: authority.root,
                    meeting: policy,
                    with: credentials
                )
            )
        }
    }

    /// Returns the whole secret.
    func secret(
        of item: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(VaultError) -> SecretBox {
        let sealed = try await unseal(item, proof, password)
        guard let whole = SecretEnvelope.open(sealed, body: item.body, for: item.identity) else {
            throw VaultError(.itemTampered, item.owner.spoken, cause: "the ciphertext")
        }
        return whole
    }

    /// Returns a signature over a SHA-256 digest.
    func signature(
        over digest: Data,
        with key: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(VaultError) -> Signature {
        guard digest.count == 32 else { throw VaultError(.digestWrongSize(bytes: digest.count)) }
        let bytes = [UInt8](digest)
        let made = try await use(key, proof, password) {
            commands,
            authority,
            policy,
            credentials throws(TPMError) in
            try commands.sign(
                digest: bytes,
                with: key.object,
                under: authority.root,
                meeting: policy,
                with: credentials
            )
        }
        guard let signature = Signature(raw: Data(made.raw)) else {
            throw VaultError(.chipFailed, key.owner.spoken, cause: "no ECDSA signature")
        }
        return signature
    }

    /// Returns the X coordinate of the product of another party's public key and the key.
    func sharedSecret(
        with publicKey: Data,
        of key: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(VaultError) -> SecretBox {
        guard let point = ECPoint(x963: [UInt8](publicKey)) else {
            throw VaultError(.publicKeyRefused, cause: "no X9.63 form of 65 bytes")
        }
        return try await use(key, proof, password) {
            commands,
            authority,
            policy,
            credentials throws(TPMError) in
            SecretBox(
                try commands.sharedSecret(
                    with: point,
                    of: key.object,
                    under: authority.root,
                    meeting: policy,
                    with: credentials
                )
            )
        }
    }
}
