// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials
internal import WhorlSupport

/// The evidence that a device's key is in a TPM, and that the TPM uses it only under a certain policy.
///
/// A device sends it with the request that enables the key. All parts are public; none is judged here.
public struct AttestationStatement: Sendable, Hashable {
    /// The longest encoded form that is read, in bytes.
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
    /// The public area of the object whose value the policy asks for where a finger was shown, TPMT_PUBLIC.
    public var authority: Data
    /// The public area of the counter of the enrolled fingers, TPMS_NV_PUBLIC; empty if any enrolled finger opens the key.
    public var counter: Data
    /// The value that the counter must have; 0 without a counter.
    public var counterValue: UInt64
    /// The public area of the passcode's object, TPMT_PUBLIC; empty if the passcode does not open the key.
    public var passcode: Data
    /// The TPM's statement about the making of the key, TPMS_ATTEST.
    public var statement: Data
    /// The signature of ``attestationKey`` over ``statement``: r followed by s, 64 bytes.
    public var signature: Data

    /// Puts the parts together.
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

    /// The form that is sent: 1, the counter's value in 8 bytes, and each other part after its size, which has 2 bytes.
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

    /// Reads the form that is sent; `nil` for anything that ``encoded`` does not give.
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

    /// Returns the value that ``statement`` has to repeat: only the chip that holds the endorsement key can read the
    /// credential's secret.
    ///
    /// - Parameters:
    ///   - nonce: The nonce of the credential.
    ///   - secret: The secret that the chip took out of the credential.
    /// - Returns: The value, 32 bytes.
    public static func proof(nonce: Data, secret: Data) -> Data {
        Data(SHA256.hash(data: preface(nonce: nonce) + secret))
    }

    /// Returns the bytes before the secret in ``proof(nonce:secret:)``.
    public static func preface(nonce: Data) -> Data {
        Data("whorl-login attestation 1\n".utf8) + nonce
    }
}
