// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import WhorlSecretMemory
import WhorlTPM
package import WhorlService

/// Evidence from the TPM of how it protects a key.
extension Vault {
    /// Returns the TPM's identity with a new attestation key, which the TPM does not store.
    ///
    /// - Throws: `noEndorsement`, `noChip`, a storage error, or another TPM error.
    package func chipIdentity() async throws(ServiceError) -> ChipIdentity {
        try await sealing { authority throws(ServiceError) in
            let found = try await chip { commands throws(TPMError) in
                try commands.endorsement().map { endorsement throws(TPMError) in
                    (endorsement, try commands.createAttestationKey(under: authority.root))
                }
            }
            guard let (endorsement, key) = found else { throw ServiceError(.noEndorsement) }
            return ChipIdentity(
                endorsementKey: Data(endorsement.publicArea),
                certificate: Data(endorsement.certificate),
                attestationKey: Data(key.publicArea),
                sealed: Data(key.serialized)
            )
        }
    }

    /// Creates a P-256 key together with the TPM's statement that it created the key.
    ///
    /// - Parameters:
    ///   - profile: The profile that owns the key.
    ///   - access: The access control, which cannot be changed later.
    ///   - credential: A credential that a server created for this TPM.
    /// - Returns: The key, which the caller must store, and the evidence.
    /// - Throws: `credentialRefused`, or the errors of ``makeKey(of:access:applicationPassword:)``.
    package func makeKey(
        of profile: String,
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(ServiceError) -> AttestedKey {
        let owner = DetachedItem.owner(.key, of: profile)
        // Bytes that do not have the form of an object do not belong to this service.
        guard let signer = try? TPMObject(serialized: [UInt8](credential.identity.sealed)),
            signer.kind == .attestationKey,
            let kind = EndorsementKind(publicArea: [UInt8](credential.identity.endorsementKey))
        else { throw ServiceError(.credentialRefused) }
        return try await sealing { authority throws(ServiceError) in
            // Do this first, because a credential for another TPM ends the operation.
            let proof = try await self.proof(of: credential, to: kind, by: signer, under: authority.root)
            let (binding, created) = try await bind(owner, access, nil, under: authority) {
                (commands, policy, _) throws(TPMError) in
                try commands.createCertifiableKey(under: authority.root, policy: policy)
            }
            let (signed, counter) = try await chip(about: owner.spoken) { commands throws(TPMError) in
                (
                    try commands.certify(created, by: signer, under: authority.root, repeating: proof),
                    try binding.generation.map { generation throws(TPMError) in
                        try commands.publicArea(of: generation.counter)
                    }
                )
            }
            let passcode =
                access.takesPasscode ? try await self.passcode(of: profile)?.object.publicArea : nil
            let made = NewSealedItem(binding: binding, object: created.object)
            return AttestedKey(
                item: try sealed(profile, access, made, body: nil),
                key: Data(created.object.publicArea),
                authority: Data(authority.object.publicArea),
                counter: Data(counter ?? []),
                counterValue: binding.generation?.value ?? 0,
                passcode: Data(passcode ?? []),
                statement: Data(signed.statement),
                signature: Data(signed.signature.raw)
            )
        }
    }

    /// Returns the digest of the credential's preface and its secret.
    ///
    /// The secret does not leave this function.
    private func proof(
        of credential: ChipCredential,
        to kind: EndorsementKind,
        by signer: TPMObject,
        under root: StorageRoot
    ) async throws(ServiceError) -> [UInt8] {
        do {
            return try await device.perform { commands throws(TPMError) in
                let secret = try commands.activate(
                    credential: [UInt8](credential.credential),
                    seed: [UInt8](credential.seed),
                    to: kind,
                    for: signer,
                    under: root
                )
                var hash = SHA256()
                hash.update(data: credential.preface)
                secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
                return Array(hash.finalize())
            }
        } catch {
            switch error.code {
            case .foreignBlob, .tooLarge: throw ServiceError(.credentialRefused, cause: error.description)
            default: throw ServiceError(error)
            }
        }
    }
}
