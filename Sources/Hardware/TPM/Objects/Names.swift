// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The name of an object or NV index: the algorithm and the SHA-256 digest of its public area, 34 bytes.
///
/// Nobody can make a second object of the same name. Source: TPM 2.0 Library Part 1, 16 "Names".
public struct TPMName: Sendable, Hashable, CustomStringConvertible {
    /// The name, 34 bytes.
    public let bytes: [UInt8]

    /// Takes a name as the TPM gives it.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The name of what has this public area: a TPMT_PUBLIC or TPMS_NV_PUBLIC, marshalled, with SHA-256 as its name algorithm.
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

    /// Takes a digest as the TPM or another computation gives it.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes in hexadecimal.
    public var description: String { hexadecimal(bytes) }
}

/// Lower-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }.joined()
}
