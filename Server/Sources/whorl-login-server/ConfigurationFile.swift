// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginServer

/// A file with options, one per line.
///
/// A line is `port = 8443`; `#` starts a comment. Options on the command line override those in the file. Commands
/// other than `serve` use only the database options.
enum ConfigurationFile {
    /// The options that every command accepts.
    private static let common = ["database", "key-file", "database-connections"]
    private static let commands = ["init", "user", "device", "session", "audit", "key"]

    /// Returns the arguments, with the options in the file specified by `--config FILE`.
    ///
    /// - Throws: ``ServerError`` if the file cannot be read.
    static func complete(_ arguments: [String]) throws(ServerError) -> [String] {
        guard let index = arguments.firstIndex(where: { $0 == "--config" || $0.hasPrefix("--config=") })
        else { return arguments }
        let isOneWord = arguments[index] != "--config"
        let end = isOneWord ? index : index + 1
        guard end < arguments.count, arguments[end] != "--config=" else {
            throw ServerError(
                .options,
                "--config requires a file",
                hint: "--config /etc/whorl-login-server.conf"
            )
        }
        let path = isOneWord ? String(arguments[end].dropFirst("--config=".count)) : arguments[end]
        var rest = arguments
        rest.removeSubrange(index...end)
        let isServe = rest.first.map { !commands.contains($0) } ?? true
        for (name, value) in try options(inFileAt: path) {
            guard isServe || common.contains(name),
                !arguments.contains(where: { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") })
            else { continue }
            // A flag has no value.
            if value == "true" {
                rest.append("--\(name)")
            } else if value != "false" {
                rest.append("--\(name)=\(value)")
            }
        }
        return rest
    }

    static func options(inFileAt path: String) throws(ServerError) -> [(name: String, value: String)] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ServerError(.options, "cannot read \(path) as UTF-8 text")
        }
        var options: [(String, String)] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard parts.count == 2, !parts[1].isEmpty, parts[0].first?.isLowercase == true,
                parts[0].allSatisfy({ $0.isASCII && ($0.isLowercase || $0 == "-") }), parts[0] != "config"
            else {
                throw ServerError(
                    .options,
                    "\(path), line \(number + 1): not an option",
                    hint: "use lines such as: port = 8443"
                )
            }
            options.append((parts[0], parts[1]))
        }
        return options
    }
}
