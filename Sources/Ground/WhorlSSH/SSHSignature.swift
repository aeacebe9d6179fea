// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import WhorlSupport

/// The result of a check of a signature.
public enum SSHSignatureCheck: Sendable, Hashable {
    /// The key signed the data.
    case valid
    /// The key did not sign the data, or the bytes are not a signature of its type.
    case invalid
    /// This module cannot verify signatures of the key's type, so nothing is known about the signature.
    case cannotVerify
}

/// Signatures in SSH's encoding (RFC 4253, section 6.6).
public enum SSHSignature {
    /// Encodes an ECDSA signature with P-256 and SHA-256 (`ecdsa-sha2-nistp256`; RFC 5656, section 3.1.2).
    ///
    /// - Parameter raw: r followed by s: 32 bytes each, big-endian.
    /// - Returns: `nil` unless there are 64 bytes and neither number is zero, which no signature contains.
    public static func p256(raw: some Collection<UInt8>) -> [UInt8]? {
        let raw = Array(raw)
        let (r, s) = (raw.prefix(32), raw.dropFirst(32))
        guard raw.count == 64, r.contains(where: { $0 != 0 }), s.contains(where: { $0 != 0 }) else {
            return nil
        }
        var numbers = ByteWriter()
        numbers.append(positive: r)
        numbers.append(positive: s)
        var writer = ByteWriter()
        writer.append(sized: SSHCurve.p256.algorithm)
        writer.append(sized: numbers.bytes)
        return writer.bytes
    }
}

extension SSHPublicKey {
    /// Checks a signature in SSH's encoding.
    ///
    /// A signature has one form: the name of the key's type, and numbers without needless zeros, up to the last byte.
    /// OpenSSH accepts the same form only.
    ///
    /// - Parameters:
    ///   - signature: The encoded signature (RFC 8709, section 6; RFC 5656, section 3.1.2).
    ///   - data: The bytes that were signed, not their hash.
    /// - Returns: ``SSHSignatureCheck/cannotVerify`` for each signature of a key whose type is not supported.
    public func check(_ signature: some Collection<UInt8>, over data: [UInt8]) -> SSHSignatureCheck {
        if material == .other { return .cannotVerify }
        // The longest one, on P-521, has fewer than 200 bytes.
        guard signature.count <= 256 else { return .invalid }
        var reader = ByteReader(Array(signature))
        guard reader.sized()?.elementsEqual(type.utf8) == true, let body = reader.sized(), reader.isAtEnd
        else {
            return .invalid
        }
        switch material {
        case .other: return .cannotVerify
        case .ed25519(let bytes):
            guard body.count == 64 else { return .invalid }
            do {
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
                return key.isValidSignature(Data(body), for: data) ? .valid : .invalid
            } catch {
                // Only a key of another size is refused, and the size was checked when the key was read.
                return .invalid
            }
        case .ecdsa(let curve, let point):
            var numbers = ByteReader(body)
            guard let r = numbers.positive(count: curve.size), let s = numbers.positive(count: curve.size),
                numbers.isAtEnd
            else { return .invalid }
            return curve.isValid(r + s, by: point, over: data) ? .valid : .invalid
        }
    }
}
