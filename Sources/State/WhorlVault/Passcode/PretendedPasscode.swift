// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// The row of a passcode without an object in a chip, for tests of apps: it tells the keychain that a passcode is set.
///
/// It cannot be compared with a passcode, and opens nothing: a vault with a chip finds that the row was tampered with.
package enum PretendedPasscode {
    /// Sets or removes the pretended passcode of a profile.
    package static func set(_ isSet: Bool, of profile: String, _ db: Database) throws {
        try db.execute(
            sql: isSet
                ? "INSERT OR IGNORE INTO vault_passcodes VALUES (?, x'', x'', 0, x'')"
                : "DELETE FROM vault_passcodes WHERE profile = ?",
            arguments: [profile]
        )
    }
}
