// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// The time that a credential is good, in seconds: a prompt comes after it.
    private static let credentialLifetime = 600
    /// The largest certificate that is looked at, in bytes.
    private static let largestCertificate = 4096

    /// Makes a credential for a device that is about to enable a key: a secret that only the chip with this endorsement
    /// key can read, and only while it holds this attestation key.
    ///
    /// Nothing is stored: the secret is computed again from what the device sends.
    ///
    /// - Parameters:
    ///   - user: The user who wants to enable the device.
    ///   - device: The device.
    ///   - endorsementKey: The public area of the chip's endorsement key, TPMT_PUBLIC.
    ///   - attestationKey: The public area of the chip's attestation key, TPMT_PUBLIC.
    ///   - certificate: The endorsement key's certificate, X.509 in DER.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The credential.
    /// - Throws: `attestationRefused` if attestations are not taken, the keys are not of a form that is known, or the
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

    /// Returns what an attestation proves of a key that is being enabled; `nil` if none is asked for.
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
            // No instance makes a longer one.
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

    /// The keys of a chip whose maker the operator trusts.
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
            throw RelyingPartyError(.attestationRefused(.endorsement), cause: "no attestation is taken")
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

/// The judge of endorsement certificates: it knows the makers of TPMs that the operator trusts.
///
/// The relying party has no X.509 of its own; the login server brings one.
public protocol EndorsementAuthority: Sendable {
    /// Returns the key of a certificate that an authority of the operator's has signed, and that is valid now.
    ///
    /// - Parameter certificate: X.509 in DER, at most 4 KiB, from outside.
    /// - Returns: The key; `nil` for any other certificate.
    func endorsedKey(in certificate: Data) async -> EndorsementKey?
}

/// The authority of a server that trusts no maker.
public struct NoEndorsements: EndorsementAuthority {
    /// Makes it.
    public init() {}

    /// Returns `nil`.
    public func endorsedKey(in _: Data) async -> EndorsementKey? { nil }
}

/// The endorsement key of a TPM, as its certificate and its public area have it.
public enum EndorsementKey: Sendable, Hashable {
    /// A key of P-256: its point, 4, x, y.
    case p256(point: Data)
    /// A key of RSA with 2,048 bits and the exponent 65,537: its modulus, 256 bytes.
    case rsa2048(modulus: Data)
}
