// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation

/// The settings that libpq reads from a URL, or from keywords and values.
enum PostgreSQLURL {
    /// Returns whether libpq can parse a URL (`PQconninfoParse`); its error for an unreadable one contains it.
    static func isReadable(_ url: String) -> Bool { settings(url) != nil }

    /// Returns the options that apply unless a URL or the environment overrides them.
    ///
    /// By default, libpq accepts a connection without TLS if an attacker on the network refuses one with TLS, and it
    /// verifies no certificate. For hosts other than this machine, the server's name must be verified. Source:
    /// PostgreSQL 15, 34.1.2 "sslmode", 34.19.1.
    static func defaults(
        of url: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [(String, String)] {
        guard let settings = settings(url) else { return [] }
        let isChosen =
            settings["sslmode"] != nil || settings["service"] != nil
            || ["PGSSLMODE", "PGSERVICE", "PGREQUIRESSL"].contains { environment[$0] != nil }
        // The address takes precedence if both are specified.
        let hosts =
            settings["hostaddr"] ?? environment["PGHOSTADDR"] ?? settings["host"] ?? environment["PGHOST"]
            ?? ""
        let isLocal = hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(Self.isLocal)
        return isChosen || isLocal ? [] : [("sslmode", "verify-full")]
    }

    /// Returns whether a host is this machine: a Unix socket, or loopback.
    private static func isLocal(_ host: Substring) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.split(separator: ".").count == 4 && host.hasPrefix("127.")
                && host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    }

    /// Returns the settings in a URL; `nil` if libpq cannot parse it.
    private static func settings(_ url: String) -> [String: String]? {
        guard let options = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return settings
    }
}
