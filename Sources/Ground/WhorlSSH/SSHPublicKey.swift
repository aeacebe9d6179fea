// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import WhorlSupport

/// A public key of a user or a host, in the encoding that SSH signs and compares (RFC 4253, section 6.6).
///
/// Keys of all types are read, since a host may have any; ``SSHPublicKey/canVerify`` says whether this module can verify
/// signatures of the key. Certificates (`…-cert-v01@openssh.com`) are keys of a type that it cannot verify.
public struct SSHPublicKey: Sendable, Hashable {
    /// The maximum number of bytes of an encoded key; the largest keys in use, certificates, have a few thousand.
    public static let longest = 16_384

    /// The encoded key.
    public let blob: [UInt8]
    /// The name of the key's type, such as `ssh-ed25519`.
    public let type: String
    let material: Material

    /// The part of a key that verifies signatures.
    enum Material: Sendable, Hashable {
        /// 32 bytes (RFC 8709, section 4).
        case ed25519([UInt8])
        /// An uncompressed point (RFC 5656, section 3.1).
        case ecdsa(SSHCurve, point: [UInt8])
        /// A type that this module does not verify.
        case other
    }

    /// Parses an encoded key.
    ///
    /// Returns `nil` if the bytes are not a key, are longer than ``longest``, or, for an Ed25519 or ECDSA key, are not the
    /// only encoding of a key: a compressed point, a point that is not on the curve, or further bytes. Keys of other types
    /// are not examined after the name of the type.
    ///
    /// - Parameter blob: The bytes, up to the last one.
    public init?(blob: some Collection<UInt8>) {
        guard blob.count <= Self.longest else { return nil }
        let blob = Array(blob)
        var reader = ByteReader(blob)
        guard let type = reader.string(1...64).flatMap({ String(utf8: $0) }), Self.isTypeName(type) else {
            return nil
        }
        if type == "ssh-ed25519" {
            guard let key = reader.string(32...32), reader.isAtEnd else { return nil }
            material = .ed25519(Array(key))
        } else if let curve = SSHCurve.allCases.first(where: { $0.algorithm == type }) {
            guard reader.sized()?.elementsEqual(curve.name.utf8) == true,
                let point = reader.string(1...133), reader.isAtEnd, curve.isPoint(Array(point))
            else { return nil }
            material = .ecdsa(curve, point: Array(point))
        } else {
            guard !reader.isAtEnd else { return nil }
            material = .other
        }
        self.blob = blob
        self.type = type
    }

    /// Encodes an ECDSA key on P-256 (`ecdsa-sha2-nistp256`; RFC 5656, section 3.1).
    ///
    /// Returns `nil` if the bytes are not a point on the curve in this form.
    ///
    /// - Parameter point: 0x04, x and y: 65 bytes (SEC 1, section 2.3.3).
    public init?(p256 point: some Collection<UInt8>) {
        var writer = ByteWriter()
        writer.append(sized: SSHCurve.p256.algorithm)
        writer.append(sized: SSHCurve.p256.name)
        writer.append(sized: point)
        self.init(blob: writer.bytes)
    }

    /// Parses the line of a public key: a type, the encoded key in Base64, and a comment, which is ignored.
    ///
    /// Returns `nil` if the line has another form, or its two names of the type differ.
    ///
    /// - Parameter line: A line of a `.pub` file, without options in front of it.
    public init?(line: some StringProtocol) {
        let words = line.split(maxSplits: 2) { $0 == " " || $0 == "\t" }
        guard words.count >= 2 else { return nil }
        self.init(type: words[0], base64: words[1])
    }

    init?(type: some StringProtocol, base64: some StringProtocol) {
        // Base64 is a third longer than the bytes; longer text is not decoded at all.
        guard base64.utf8.count <= Self.longest * 2, let bytes = Data(strictBase64: base64) else {
            return nil
        }
        self.init(blob: bytes)
        guard self.type == type else { return nil }
    }

    /// Whether ``check(_:over:)`` can verify signatures of the key: Ed25519, and ECDSA on P-256, P-384 and P-521.
    public var canVerify: Bool { material != .other }

    /// The fingerprint as OpenSSH prints it: `SHA256:`, and the hash of ``blob`` in Base64 without padding.
    public var fingerprint: String {
        let hash = Data(SHA256.hash(data: blob)).base64EncodedString()
        return "SHA256:" + hash.prefix { $0 != "=" }
    }

    /// Returns the line of a `.pub` or `authorized_keys` file, without a line break.
    ///
    /// - Parameter comment: Any text. Line breaks and tabs become spaces, other control characters and invisible ones are
    ///   removed, and it ends after 200 characters.
    /// - Returns: The type, the key in Base64 and, unless it is empty, the comment.
    public func line(comment: String) -> String {
        let line = type + " " + Data(blob).base64EncodedString()
        let comment = DisplayText.clean(comment)
        return comment.isEmpty ? line : line + " " + comment
    }

    /// Returns whether the encoded keys are equal.
    public static func == (left: SSHPublicKey, right: SSHPublicKey) -> Bool { left.blob == right.blob }

    /// Hashes ``blob``.
    public func hash(into hasher: inout Hasher) { hasher.combine(blob) }

    /// Returns whether a name can be a type's: printable ASCII without a comma (RFC 4251, section 6).
    private static func isTypeName(_ name: String) -> Bool {
        name.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }
    }
}

extension Data {
    /// Decodes Base64 (RFC 4648, section 4); returns `nil` for any form but the one that encoding gives.
    init?(strictBase64 text: some StringProtocol) {
        let text = String(text)
        self.init(base64Encoded: text)
        guard base64EncodedString() == text else { return nil }
    }
}
