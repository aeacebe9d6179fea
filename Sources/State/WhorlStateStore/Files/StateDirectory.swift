// SPDX-License-Identifier: Apache-2.0

import WhorlSupport

/// The directory that contains the prints, the attempts and the audit log of one user.
package struct StateDirectory: Sendable, Hashable {
    /// The directory's path, exactly as the caller specified it.
    package let path: String

    /// Creates a reference to a directory without accessing the directory.
    package init(path: String) { self.path = path }

    /// Returns the directory that a program uses if none is specified.
    ///
    /// It is `WHORL_STATE_DIR` if that is set, or else `$XDG_STATE_HOME/whorl` if that is an absolute path (as the XDG
    /// Base Directory Specification 0.8 requires), or else `~/.local/state/whorl`.
    package static func standard(environment: [String: String]) -> StateDirectory {
        if let named = environment["WHORL_STATE_DIR"], !named.isEmpty { return StateDirectory(path: named) }
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
            return StateDirectory(path: joined(base, "whorl"))
        }
        // A relative path would mean another directory for each working directory of a program. Without the variable,
        // the folder comes from the user database, because an elevated program must not trust variables.
        let home =
            environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? ThisProcess.homeFolder ?? "/"
        return StateDirectory(path: joined(home, ".local/state/whorl"))
    }

    package func file(_ name: String) -> String { StateDirectory.joined(path, name) }

    var databasePath: String { file("whorl.sqlite") }

    /// The path of the key file on a system without a TPM.
    var keyPath: String { file("state.key") }

    private static func joined(_ base: String, _ name: String) -> String {
        base.hasSuffix("/") ? base + name : base + "/" + name
    }
}
