// SPDX-License-Identifier: Apache-2.0

/// Where the prints, the attempts and the audit log of one user lie.
public struct StateDirectory: Sendable, Hashable {
    /// The directory's path, as it was given.
    public let path: String

    /// Names a directory; nothing is looked at or created.
    public init(path: String) { self.path = path }

    /// The directory that a program uses when none is named.
    ///
    /// `WHORL_STATE_DIR`, else `$XDG_STATE_HOME/whorl` where that is an absolute path (as the XDG Base Directory
    /// Specification 0.8 asks), else `~/.local/state/whorl`.
    public static func standard(environment: [String: String]) -> StateDirectory {
        if let named = environment["WHORL_STATE_DIR"], !named.isEmpty { return StateDirectory(path: named) }
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
            return StateDirectory(path: joined(base, "whorl"))
        }
        // A relative path would mean another directory in each folder that a program is started in.
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
        return StateDirectory(path: joined(home, ".local/state/whorl"))
    }

    /// The path of a file in the directory.
    package func file(_ name: String) -> String { StateDirectory.joined(path, name) }

    /// The database.
    var databasePath: String { file("whorl.sqlite") }

    /// The key that a system without a TPM keeps in a file.
    var keyPath: String { file("state.key") }

    private static func joined(_ base: String, _ name: String) -> String {
        base.hasSuffix("/") ? base + name : base + "/" + name
    }
}
