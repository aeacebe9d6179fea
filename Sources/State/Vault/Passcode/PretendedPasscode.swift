// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// The row of a passcode that no chip knows, for tests of apps: what tells the keychain that one is set.
///
/// Nothing can be compared with it or opened by it: to a vault with a chip the row was tampered with.
package enum PretendedPasscode {
    /// Says whether a profile has one.
    package static func set(_ isSet: Bool, of profile: String, _ db: Database) throws {
        try db.execute(
            sql: isSet
                ? "INSERT OR IGNORE INTO vault_passcodes VALUES (?, x'', x'', 0, x'')"
                : "DELETE FROM vault_passcodes WHERE profile = ?",
            arguments: [profile]
        )
    }
}
