// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// The lifetime of a credential in seconds, which is long enough for a prompt.
    private static let credentialLifetime = 600
    /// The maximum size of a certificate, in bytes.
    private static let largestCertificate = 4096

    /// Creates a credential for a device that is about to enable a key: a secret that only the TPM with this
    /// endorsement key can decrypt, and only while this attestation key is loaded.
    ///
    /// Nothing is stored, because the secret is later computed again from the device's data.
    ///
    /// - Parameters:
    ///   - user: The user who enables the device.
    ///   - device: The device.
    ///   - endorsementKey: The public area of the TPM's endorsement key, TPMT_PUBLIC.
    ///   - attestationKey: The public area of the TPM's attestation key, TPMT_PUBLIC.
    ///   - certificate: The endorsement key's certificate, X.509 in DER.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The credential.
    /// - Throws: `attestationRefused` if attestations are not accepted, the keys have an unknown form, or the
    ///   certificate is not trusted; `tooManyTries`, `store`.
    public func credential(
        for user: LoginName,
        device: LoginName,
        endorsementKey: Data,
        attestationKey: Data,
        certificate: Data,
        from address: String
    ) async throws(RelyingPartyError) -> AttestationCredential {
        try await reporting { () async throws(RelyingPartyError) in
            try countTry(from: ClientAddress(address))
            let chip = try await chip(endorsementKey, attestationKey, certificate)
            let nonce = Nonce(expiresAt: now + Self.credentialLifetime)
            let terms = terms(user, device, .enable)
            let secret = try await keys.seal(at: now, from: store).secret(nonce, for: terms, chip: chip.names)
            guard let seed = CredentialSeed(for: chip.endorsement),
                let sealed = CredentialSeal(secret, for: chip.attestationName, under: seed.key)
            else {
                throw RelyingPartyError(.attestationRefused(.endorsement))
            }
            return AttestationCredential(
                nonce: nonce.bytes,
                credential: sealed.credential,
                secret: seed.encrypted,
                expiresAt: nonce.expiresAt
            )
        }
    }

    /// Returns the protection that an attestation proves for a key that is being enabled; `nil` if no attestation is
    /// requested.
    ///
    /// - Throws: `attestationRequired`, `attestationRefused`, `store`.
    func attestation(
        of key: LoginKey,
        _ statement: AttestationStatement?,
        for user: LoginName,
        _ device: LoginName
    ) async throws(RelyingPartyError) -> KeyAttestation? {
        guard let statement else {
            guard configuration.attestationPolicy != .require else {
                throw RelyingPartyError(.attestationRequired)
            }
            return nil
        }
        let chip = try await chip(statement.endorsementKey, statement.attestationKey, statement.certificate)
        guard let nonce = Nonce(bytes: statement.nonce), nonce.expiresAt > now,
            // No instance creates a longer one.
            nonce.expiresAt <= now + Self.credentialLifetime + configuration.clockSkew
        else { throw RelyingPartyError(.attestationRefused(.credential)) }
        let terms = terms(user, device, .enable)
        let secret = try await keys.seal(at: now, from: store).secret(nonce, for: terms, chip: chip.names)
        do throws(AttestationFault) {
            return try AttestationCheck(statement: statement).run(key, secret: secret)
        } catch {
            throw RelyingPartyError(.attestationRefused(error))
        }
    }

    /// The keys of a TPM whose manufacturer the operator trusts.
    private struct Chip {
        let endorsement: EndorsementKey
        let attestationName: Data
        let names: Data
    }

    private func chip(
        _ endorsementKey: Data,
        _ attestationKey: Data,
        _ certificate: Data
    ) async throws(RelyingPartyError) -> Chip {
        guard configuration.attestationPolicy != .none else {
            throw RelyingPartyError(.attestationRefused(.endorsement), cause: "attestations are not accepted")
        }
        guard let endorsement = TPMPublicArea(endorsementKey), let attestation = TPMPublicArea(attestationKey)
        else { throw RelyingPartyError(.attestationRefused(.malformed)) }
        guard attestation.attestationPoint != nil else {
            throw RelyingPartyError(.attestationRefused(.statement))
        }
        guard let key = endorsement.endorsementKey, certificate.count <= Self.largestCertificate,
            await endorsements.endorsedKey(in: certificate) == key
        else { throw RelyingPartyError(.attestationRefused(.endorsement)) }
        return Chip(
            endorsement: key,
            attestationName: attestation.name,
            names: endorsement.name + attestation.name
        )
    }
}

/// An authority for endorsement certificates, which knows the TPM manufacturers that the operator trusts.
///
/// The relying party does not implement X.509; the login server provides an implementation.
public protocol EndorsementAuthority: Sendable {
    /// Returns the key in a certificate that was signed by a trusted authority and is currently valid.
    ///
    /// - Parameter certificate: X.509 in DER, at most 4 KiB, untrusted.
    /// - Returns: The key; `nil` for any other certificate.
    func endorsedKey(in certificate: Data) async -> EndorsementKey?
}

/// The authority of a server that trusts no manufacturers.
public struct NoEndorsements: EndorsementAuthority {
    /// Creates the authority.
    public init() {}

    /// Returns `nil`, because no certificate is trusted.
    public func endorsedKey(in _: Data) async -> EndorsementKey? { nil }
}

/// The endorsement key of a TPM, as found in its certificate and its public area.
public enum EndorsementKey: Sendable, Hashable {
    /// A P-256 key, as its point: 0x04 followed by x and y.
    case p256(point: Data)
    /// A 2,048-bit RSA key with the exponent 65,537, as its modulus of 256 bytes.
    case rsa2048(modulus: Data)
}
