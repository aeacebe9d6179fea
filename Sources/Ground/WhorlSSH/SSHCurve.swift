// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials

/// A curve of the ECDSA keys that SSH requires (RFC 5656, section 10.1).
enum SSHCurve: CaseIterable, Sendable, Hashable {
    case p256, p384, p521

    /// The curve's name in an encoded key.
    var name: String {
        switch self {
        case .p256: "nistp256"
        case .p384: "nistp384"
        case .p521: "nistp521"
        }
    }

    /// The name of the key's type, which is also that of its signatures.
    var algorithm: String { "ecdsa-sha2-" + name }

    /// The number of bytes of a coordinate, and of r and s.
    var size: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// Returns whether the bytes are an uncompressed point on the curve (SEC 1, section 2.3.4).
    func isPoint(_ point: [UInt8]) -> Bool {
        guard point.count == 1 + 2 * size, point.first == 4 else { return false }
        do {
            switch self {
            case .p256: _ = try P256.Signing.PublicKey(x963Representation: point)
            case .p384: _ = try P384.Signing.PublicKey(x963Representation: point)
            case .p521: _ = try P521.Signing.PublicKey(x963Representation: point)
            }
            return true
        } catch {
            // The library has one error for every point that is not on the curve.
            return false
        }
    }

    /// Returns whether a signature is a key's: r and s in `size` bytes each, over the curve's hash of `data`.
    ///
    /// The hash is SHA-256, SHA-384 or SHA-512 (RFC 5656, section 6.2.1).
    func isValid(_ signature: [UInt8], by point: [UInt8], over data: [UInt8]) -> Bool {
        do {
            switch self {
            case .p256:
                return try P256.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(rawRepresentation: signature), for: data)
            case .p384:
                return try P384.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(rawRepresentation: signature), for: data)
            case .p521:
                return try P521.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(.init(rawRepresentation: signature), for: data)
            }
        } catch {
            // The point was checked when the key was read, so it is the signature that the library does not accept.
            return false
        }
    }
}
