// SPDX-License-Identifier: Apache-2.0

/// The name of a host and its port, as files of known hosts write them.
public struct SSHHostName: Sendable, Hashable {
    /// The form that is compared and hashed: `host` for port 22, otherwise `[host]:port`, in lower case.
    public let text: String

    /// Creates the name of a host.
    ///
    /// Returns `nil` if the name is empty, has more than 255 bytes, or contains spaces, control characters or characters
    /// with a meaning in files of known hosts.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without brackets.
    ///   - port: The port.
    public init?(_ host: String, port: UInt16 = 22) {
        let isPlain = host.utf8.allSatisfy { byte in
            byte > 0x20 && byte != 0x7F && !"*?!,|[]#".utf8.contains(byte)
        }
        guard (1...255).contains(host.utf8.count), isPlain else { return nil }
        let name = host.asciiLowercase
        text = port == 22 ? name : "[\(name)]:\(port)"
    }

    /// Returns whether a pattern describes the name: `*` stands for any bytes, and `?` for one.
    ///
    /// Only the last `*` is ever tried again, so the time is bounded by the product of the two lengths.
    func matches(_ pattern: Substring) -> Bool {
        let (name, pattern) = (Array(text.utf8), Array(pattern.utf8))
        var (at, next) = (0, 0)
        var retry: (at: Int, next: Int)?
        while at < name.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                retry = (at, next)
            } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") || pattern[next] == name[at] {
                (at, next) = (at + 1, next + 1)
            } else if let last = retry {
                // The star takes one byte more.
                (at, next) = (last.at + 1, last.next)
                retry = (at, next)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

extension StringProtocol {
    /// The text with A to Z in lower case; OpenSSH leaves all other letters as they are.
    var asciiLowercase: String {
        String(
            decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }
}
