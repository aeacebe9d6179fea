// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// A signature for a purpose other than a login, as `ssh-keygen -Y sign` makes it (OpenSSH's PROTOCOL.sshsig).
public struct SSHFileSignature: Sendable, Hashable {
    /// The purpose, such as `git` or `file`: hostile text of at most 256 bytes, without control characters.
    public let namespace: String
    /// The hash of the message.
    public let hash: Hash
    /// The hash's value: 32 or 64 bytes.
    public let digest: [UInt8]

    /// A hash function that the format allows.
    public enum Hash: String, Sendable, Hashable, CaseIterable {
        /// SHA-256.
        case sha256
        /// SHA-512, the default of ssh-keygen.
        case sha512

        /// The number of bytes of a value.
        var size: Int { self == .sha256 ? 32 : 64 }
    }

    /// Whether git makes such signatures: of a commit, a tag or a push.
    public var isOfGit: Bool { namespace == "git" }

    /// Parses the bytes to sign, which do not contain the version that the armored signature has.
    ///
    /// - Returns: `nil` unless the bytes are such a request up to the last one, with nothing in the reserved field.
    init?(_ data: [UInt8]) {
        var reader = ByteReader(data)
        guard reader.take(6)?.elementsEqual("SSHSIG".utf8) == true,
            let namespace = reader.name(), reader.constant(""),
            let hash = reader.name().flatMap({ Hash(rawValue: $0) }),
            let digest = reader.string(hash.size...hash.size), reader.isAtEnd
        else { return nil }
        self.namespace = namespace
        self.hash = hash
        self.digest = Array(digest)
    }
}
