// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials
internal import WhorlSupport

/// The evidence that a device's key is in a TPM, and that the TPM uses the key only under a certain policy.
///
/// A device sends it with the request that enables the key. All parts are public, and this type does not verify any of
/// them.
public struct AttestationStatement: Sendable, Hashable {
    /// The maximum encoded size, in bytes.
    public static let longest = 8192
    private static let version: UInt8 = 1

    /// The nonce of the server's credential, 16 bytes.
    public var nonce: Data
    /// The public area of the TPM's endorsement key, TPMT_PUBLIC.
    public var endorsementKey: Data
    /// The certificate of the endorsement key, X.509 in DER.
    public var certificate: Data
    /// The public area of the key that signs ``statement``, TPMT_PUBLIC.
    public var attestationKey: Data
    /// The public area of the device's key, TPMT_PUBLIC.
    public var key: Data
    /// The public area of the object whose authorization value the policy requires after a finger match, TPMT_PUBLIC.
    public var authority: Data
    /// The public area of the counter of the enrolled fingers, TPMS_NV_PUBLIC; empty if any enrolled finger unlocks the
    /// key.
    public var counter: Data
    /// The required value of the counter; 0 if there is no counter.
    public var counterValue: UInt64
    /// The public area of the passcode's object, TPMT_PUBLIC; empty if the passcode does not unlock the key.
    public var passcode: Data
    /// The TPM's statement about the creation of the key, TPMS_ATTEST.
    public var statement: Data
    /// The signature of ``attestationKey`` over ``statement``: r followed by s, 64 bytes.
    public var signature: Data

    /// Creates a statement from its parts.
    public init(
        nonce: Data,
        endorsementKey: Data,
        certificate: Data,
        attestationKey: Data,
        key: Data,
        authority: Data,
        counter: Data,
        counterValue: UInt64,
        passcode: Data,
        statement: Data,
        signature: Data
    ) {
        self.nonce = nonce
        self.endorsementKey = endorsementKey
        self.certificate = certificate
        self.attestationKey = attestationKey
        self.key = key
        self.authority = authority
        self.counter = counter
        self.counterValue = counterValue
        self.passcode = passcode
        self.statement = statement
        self.signature = signature
    }

    /// The encoded form: a version byte, the counter's value in 8 bytes, and each other part preceded by its size in 2
    /// bytes.
    public var encoded: Data {
        var bytes = ByteWriter(CollectionOfOne(Self.version))
        bytes.append(counterValue)
        for part in [
            nonce, endorsementKey, certificate, attestationKey, key, authority, counter, passcode, statement,
            signature,
        ] {
            bytes.append(sized: part, by: UInt16.self)
        }
        return Data(bytes.bytes)
    }

    /// Parses the encoded form; returns `nil` if the bytes are not the output of ``encoded``.
    public init?(encoded: Data) {
        guard encoded.count <= Self.longest else { return nil }
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == Self.version, let counterValue = bytes.number(UInt64.self) else {
            return nil
        }
        var parts: [Data] = []
        while parts.count < 10 {
            guard let part = bytes.sized(by: UInt16.self) else { return nil }
            parts.append(Data(part))
        }
        guard bytes.isAtEnd else { return nil }
        self.init(
            nonce: parts[0],
            endorsementKey: parts[1],
            certificate: parts[2],
            attestationKey: parts[3],
            key: parts[4],
            authority: parts[5],
            counter: parts[6],
            counterValue: counterValue,
            passcode: parts[7],
            statement: parts[8],
            signature: parts[9]
        )
    }

    /// Returns the value to be included in ``statement``, which proves that the TPM with the endorsement key decrypted
    /// the credential's secret.
    ///
    /// - Parameters:
    ///   - nonce: The nonce of the credential.
    ///   - secret: The secret that the TPM decrypted from the credential.
    /// - Returns: The value, 32 bytes.
    public static func proof(nonce: Data, secret: Data) -> Data {
        Data(SHA256.hash(data: preface(nonce: nonce) + secret))
    }

    /// Returns the bytes that precede the secret in ``proof(nonce:secret:)``.
    public static func preface(nonce: Data) -> Data {
        Data("whorl-login attestation 1\n".utf8) + nonce
    }
}
