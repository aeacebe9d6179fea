// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The name of an object or NV index: the algorithm and the SHA-256 digest of its public area, 34 bytes.
///
/// A second object of the same name cannot be made. Source: TPM 2.0 Library Part 1, 16 "Names".
public struct TPMName: Sendable, Hashable, CustomStringConvertible {
    /// The name, 34 bytes.
    public let bytes: [UInt8]

    /// Takes a name in the TPM's form.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Computes the name from a public area: a TPMT_PUBLIC or TPMS_NV_PUBLIC, marshalled, with SHA-256 as name
    /// algorithm.
    init(ofPublicArea area: some Sequence<UInt8>) {
        bytes = [0x00, 0x0b] + SHA256.hash(data: Array(area))
    }

    /// The bytes in hexadecimal.
    public var description: String { hexadecimal(bytes) }
}

/// The digest of a policy, 32 bytes.
public struct PolicyDigest: Sendable, Hashable, CustomStringConvertible {
    /// The SHA-256 digest.
    public let bytes: [UInt8]

    /// Takes a digest from the TPM or from another computation.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes in hexadecimal.
    public var description: String { hexadecimal(bytes) }
}

/// Returns lower-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }.joined()
}
