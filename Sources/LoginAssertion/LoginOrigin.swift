// SPDX-License-Identifier: Apache-2.0

/// A server as an assertion names it: scheme, host and port, such as `https://bank.example` (RFC 6454, 6.1).
///
/// Two texts name the same server only where they are equal, so there is one text for each: lower case, no path, no
/// default port.
public struct LoginOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The text, at most 255 bytes.
    public let text: String

    /// The text.
    public var description: String { text }

    /// `nil` for what is not the one text of an origin, and for `http` to another machine.
    ///
    /// - Parameter text: `https://host`, `https://host:port`; `http` where the host is `localhost`, `127.0.0.1` or
    ///   `[::1]`, since nothing of it crosses a network.
    public init?(_ text: String) {
        guard text.utf8.count <= 255,
            let parts = text.wholeMatch(
                of: /(https?):\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?/
            )
        else { return nil }
        let isSecure = parts.1 == "https"
        if let digits = parts.3 {
            guard let port = Int(digits), port <= 65_535, port != (isSecure ? 443 : 80) else { return nil }
        }
        guard isSecure || ["localhost", "127.0.0.1", "[::1]"].contains(parts.2) else { return nil }
        self.text = text
    }
}
