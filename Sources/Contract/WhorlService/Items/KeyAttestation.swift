// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The identity of a TPM, and a key with which it signs statements about other keys.
///
/// It is public, but it identifies the machine for as long as the TPM has this endorsement key. Send it only to servers
/// that the owner has chosen.
public struct ChipIdentity: Sendable, Hashable, Codable {
    /// The public area of the endorsement key, TPMT_PUBLIC.
    public let endorsementKey: Data
    /// The TPM manufacturer's certificate for the endorsement key, X.509 in DER.
    public let certificate: Data
    /// The public area of the attestation key, TPMT_PUBLIC.
    public let attestationKey: Data
    /// The attestation key in a form that can be passed back to the service; only its TPM can use it.
    public let sealed: Data

    package init(endorsementKey: Data, certificate: Data, attestationKey: Data, sealed: Data) {
        self.endorsementKey = endorsementKey
        self.certificate = certificate
        self.attestationKey = attestationKey
        self.sealed = sealed
    }
}

/// A server's credential for a TPM: a secret that only this TPM can read, and only for this attestation key.
public struct ChipCredential: Sendable, Hashable, Codable {
    /// The TPM that the credential was created for.
    public let identity: ChipIdentity
    /// The integrity HMAC and the encrypted secret, TPMS_ID_OBJECT.
    public let credential: Data
    /// The seed that the secret is encrypted with.
    ///
    /// For a P-256 endorsement key, this is an ephemeral point, TPMS_ECC_POINT; for an RSA key, the encrypted seed.
    public let seed: Data
    /// Bytes to hash before the secret; the TPM's statement includes the SHA-256 digest of both.
    public let preface: Data

    /// Creates a credential from the parts that a server sent.
    public init(for identity: ChipIdentity, credential: Data, seed: Data, preface: Data) {
        self.identity = identity
        self.credential = credential
        self.seed = seed
        self.preface = preface
    }
}

/// A new key, and the TPM's evidence of how it is protected.
public struct AttestedKey: Sendable, Hashable, Codable {
    /// The key, for the caller to store.
    public let item: SealedItem
    /// The key's public area, TPMT_PUBLIC.
    public let key: Data
    /// The public area of the object whose authorization value the policy requires after a finger match, TPMT_PUBLIC.
    public let authority: Data
    /// The public area of the enrolled fingers' counter, TPMS_NV_PUBLIC; empty if the policy does not use a counter.
    public let counter: Data
    /// The value that the counter must have; 0 if there is no counter.
    public let counterValue: UInt64
    /// The public area of the passcode's object, TPMT_PUBLIC; empty if the policy does not accept the passcode.
    public let passcode: Data
    /// The TPM's statement that it created the key, TPMS_ATTEST.
    public let statement: Data
    /// The attestation key's signature over the statement: r followed by s, 64 bytes.
    public let signature: Data

    package init(
        item: SealedItem,
        key: Data,
        authority: Data,
        counter: Data,
        counterValue: UInt64,
        passcode: Data,
        statement: Data,
        signature: Data
    ) {
        self.item = item
        self.key = key
        self.authority = authority
        self.counter = counter
        self.counterValue = counterValue
        self.passcode = passcode
        self.statement = statement
        self.signature = signature
    }
}
