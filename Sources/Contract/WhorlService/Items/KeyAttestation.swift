// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The identity of a chip, and a key with which it signs statements about other keys.
///
/// It is public, but it names the machine for as long as its chip has this endorsement key: it is for servers that the
/// owner has chosen.
public struct ChipIdentity: Sendable, Hashable, Codable {
    /// The public area of the endorsement key, TPMT_PUBLIC.
    public let endorsementKey: Data
    /// The certificate of the endorsement key by the chip's maker, X.509 in DER.
    public let certificate: Data
    /// The public area of the attestation key, TPMT_PUBLIC.
    public let attestationKey: Data
    /// The attestation key as the service takes it back; only its chip can use it.
    public let sealed: Data

    package init(endorsementKey: Data, certificate: Data, attestationKey: Data, sealed: Data) {
        self.endorsementKey = endorsementKey
        self.certificate = certificate
        self.attestationKey = attestationKey
        self.sealed = sealed
    }
}

/// A server's credential for a chip: a secret that only this chip can read, and only for this attestation key.
public struct ChipCredential: Sendable, Hashable, Codable {
    /// The chip that it was made for.
    public let identity: ChipIdentity
    /// The integrity HMAC and the encrypted secret, TPMS_ID_OBJECT.
    public let credential: Data
    /// The seed that it is encrypted with: for an endorsement key of P-256 an ephemeral point, TPMS_ECC_POINT; for one of RSA
    /// the encrypted seed.
    public let seed: Data
    /// Bytes that are hashed before the secret; the chip's statement repeats the SHA-256 digest.
    public let preface: Data

    /// Takes a credential from a server.
    public init(for identity: ChipIdentity, credential: Data, seed: Data, preface: Data) {
        self.identity = identity
        self.credential = credential
        self.seed = seed
        self.preface = preface
    }
}

/// A new key, and the chip's evidence of how it is protected.
public struct AttestedKey: Sendable, Hashable, Codable {
    /// The key, which the caller stores.
    public let item: SealedItem
    /// The key's public area, TPMT_PUBLIC.
    public let key: Data
    /// The public area of the object whose value the policy asks for where a finger was shown, TPMT_PUBLIC.
    public let authority: Data
    /// The public area of the counter of the enrolled fingers, TPMS_NV_PUBLIC; empty if the policy names none.
    public let counter: Data
    /// The value that the counter must have; 0 without a counter.
    public let counterValue: UInt64
    /// The public area of the passcode's object, TPMT_PUBLIC; empty if the policy names none.
    public let passcode: Data
    /// The chip's statement that it has made the key, TPMS_ATTEST.
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
