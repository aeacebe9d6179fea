// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import WhorlSupport

/// The hosts in a file such as `~/.ssh/known_hosts` (sshd(8), section SSH_KNOWN_HOSTS FILE FORMAT).
///
/// It finds a name for a host's key. It does not decide whether a host is trusted, as ssh does.
public struct SSHKnownHosts: Sendable {
    /// The maximum number of bytes that are read; later lines of a longer file are ignored.
    public static let longest = 1_048_576

    /// The lines that could be read, in their order.
    public let lines: [SSHKnownHostsLine]

    /// Reads the contents of a file; lines that cannot be read, such as comments, are ignored.
    public init(_ contents: some Collection<UInt8>) {
        let whole = contents.prefix(Self.longest)
        var lines = whole.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The rest of a line that was cut has another meaning than the line.
        if whole.count < contents.count { lines.removeLast() }
        self.lines = lines.enumerated().compactMap { SSHKnownHostsLine(bytes: $1, number: $0 + 1) }
    }

    /// Returns the names that lines in plain text give to a key, as `host` or `[host]:port`, each once.
    ///
    /// Patterns, hashed names and lines with a marker give no names. The names are hostile text.
    public func names(of key: SSHPublicKey) -> [String] {
        var seen: Set<String> = []
        return lines.filter { $0.marker == nil && $0.key == key }.flatMap(\.plainNames)
            .filter { seen.insert($0).inserted }
    }

    /// Returns whether a line says that the key is that of a host, in plain text, by a pattern or hashed.
    ///
    /// A name that comes from elsewhere, such as an ssh process's arguments, becomes credible only by this.
    public func isKey(_ key: SSHPublicKey, of host: SSHHostName) -> Bool {
        !isRevoked(key) && lines.contains { $0.marker == nil && $0.key == key && $0.matches(host) }
    }

    /// Returns whether a line with `@revoked` has the key, for any host.
    public func isRevoked(_ key: SSHPublicKey) -> Bool {
        lines.contains { $0.marker == .revoked && $0.key == key }
    }
}

/// A line of a file of known hosts.
public struct SSHKnownHostsLine: Sendable, Hashable {
    /// A marker at the start of a line.
    public enum Marker: String, Sendable, Hashable, CaseIterable {
        /// The key signs the certificates of the hosts.
        case certificateAuthority = "@cert-authority"
        /// The key must not be accepted from the hosts.
        case revoked = "@revoked"
    }

    /// The hosts of a line.
    enum Hosts: Sendable, Hashable {
        /// Names and patterns, in lower case; a pattern after `!` excludes hosts.
        case patterns([String])
        /// One name, hashed with HMAC-SHA-1: the HMAC's key and its value, 20 bytes each.
        case hashed(salt: [UInt8], hash: [UInt8])
    }

    /// The maximum number of bytes of a line.
    public static let longest = 32_768
    /// The maximum number of names and patterns of a line.
    public static let mostPatterns = 256

    /// The line's number in its file, from 1.
    public let number: Int
    /// The marker, if the line has one.
    public let marker: Marker?
    /// The key.
    public let key: SSHPublicKey
    let hosts: Hosts

    /// Reads a line: an optional marker, hosts, the key's type, the key in Base64, and a comment, which is ignored.
    ///
    /// Returns `nil` if the line is empty, a comment, too long or of another form.
    ///
    /// - Parameters:
    ///   - bytes: The line without its line break.
    ///   - number: The line's number in its file.
    init?(bytes: some Collection<UInt8>, number: Int) {
        guard bytes.count <= Self.longest, let text = String(utf8: bytes) else { return nil }
        var words = text.split(maxSplits: 4) { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let first = words.first, first.utf8.first != UInt8(ascii: "#") else { return nil }
        if first.utf8.first == UInt8(ascii: "@") {
            guard let marker = Marker(rawValue: String(words.removeFirst())) else { return nil }
            self.marker = marker
        } else {
            marker = nil
        }
        guard words.count >= 3, let hosts = Self.hosts(words[0]),
            let key = SSHPublicKey(type: words[1], base64: words[2])
        else { return nil }
        self.number = number
        self.hosts = hosts
        self.key = key
    }

    private static func hosts(_ word: Substring) -> Hosts? {
        guard word.utf8.first == UInt8(ascii: "|") else {
            let patterns = word.split(separator: ",").map { $0.asciiLowercase }
            return (1...mostPatterns).contains(patterns.count) ? .patterns(patterns) : nil
        }
        let parts = word.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "1",
            let salt = Data(strictBase64: parts[2]), let hash = Data(strictBase64: parts[3]),
            salt.count == Insecure.SHA1.byteCount, hash.count == Insecure.SHA1.byteCount
        else { return nil }
        return .hashed(salt: Array(salt), hash: Array(hash))
    }

    /// Returns whether the line is about a host.
    ///
    /// A pattern with `*` or `?` is compared as ssh does; one after `!` that matches excludes the host from the line.
    public func matches(_ host: SSHHostName) -> Bool {
        switch hosts {
        case .hashed(let salt, let hash):
            let code = HMAC<Insecure.SHA1>.authenticationCode(
                for: Array(host.text.utf8),
                using: SymmetricKey(data: salt)
            )
            return code.elementsEqual(hash)
        case .patterns(let patterns):
            var isListed = false
            for pattern in patterns {
                if pattern.utf8.first == UInt8(ascii: "!") {
                    if host.matches(pattern.dropFirst()) { return false }
                } else if host.matches(pattern[...]) {
                    isListed = true
                }
            }
            return isListed
        }
    }

    /// The names of the line that are not patterns, in lower case; empty for a hashed line and one with exclusions.
    public var plainNames: [String] {
        guard case .patterns(let patterns) = hosts, !patterns.contains(where: { $0.hasPrefix("!") }) else {
            return []
        }
        return patterns.filter { !$0.contains { $0 == "*" || $0 == "?" } }
    }
}
