// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Crypto

/// The name of an object or NV index, which consists of the hash algorithm and the SHA-256 digest of its public area
/// (34 bytes).
///
/// No two objects can have the same name. Source: TPM 2.0 Library Part 1, 16 "Names".
package struct TPMName: Sendable, Hashable, CustomStringConvertible {
    /// The name (34 bytes).
    package let bytes: [UInt8]

    /// Creates a name from the TPM's format.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Computes the name from a public area, which is a marshalled TPMT_PUBLIC or TPMS_NV_PUBLIC with SHA-256 as its
    /// name algorithm.
    init(ofPublicArea area: some Sequence<UInt8>) {
        bytes = [0x00, 0x0b] + SHA256.hash(data: Array(area))
    }

    /// The bytes in hexadecimal.
    package var description: String { hexadecimal(bytes) }
}

/// The digest of a policy (32 bytes).
package struct PolicyDigest: Sendable, Hashable, CustomStringConvertible {
    /// The SHA-256 digest.
    package let bytes: [UInt8]

    /// Creates a digest that was computed by the TPM or elsewhere.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes in hexadecimal.
    package var description: String { hexadecimal(bytes) }
}

/// Returns bytes as lower-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }.joined()
}

/// The stored bytes of a resource, with the handle and name that they must have.
struct Pin: Hashable {
    let resource: [UInt8]
    let handle: UInt32
    let name: TPMName
}

/// The pinned resources that this connection has verified, recorded so that ESAPI does not have to compute their names
/// again.
///
/// A name is a hash of the stored bytes, which never change. With OpenSSL 3, tpm2-tss 3 takes about as long to compute
/// a name as the TPM takes to respond. The state of the TPM is never cached here.
struct Pins {
    /// The maximum number of cached pins, which is enough for a root and the counters of several profiles.
    private static let most = 16

    private var checked: Set<Pin> = []
    private var names: [ESYS_TR: TPMName] = [:]

    /// Returns whether it was verified that these bytes have this handle and name.
    func isChecked(_ pin: Pin) -> Bool { checked.contains(pin) }

    mutating func noteChecked(_ pin: Pin) {
        if checked.count >= Self.most { checked = [] }
        checked.insert(pin)
    }

    /// Records the name that belongs to a pinned resource's ESAPI handle while the handle is in use.
    mutating func lend(_ object: ESYS_TR, named name: TPMName) { names[object] = name }
    mutating func takeBack(_ object: ESYS_TR) { names[object] = nil }

    /// Returns the name that belongs to a handle in use.
    func name(of object: ESYS_TR) -> TPMName? { names[object] }
}
