// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// Whether the owner of a profile has a passcode, as the rows of the vault say it.
///
/// It is here since both the vault and the store of fingers decide by it, in transactions of their own.
package enum OwnerPasscode {
    /// Whether a passcode is set, be its row sound or not.
    package static func isSet(of profile: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM vault_passcodes WHERE profile = ?)",
            arguments: [profile]
        ) ?? true
    }
}

/// Whether a profile has enrolled fingers, as the rows of the store of fingers say it.
package enum OwnerFingers {
    /// Whether any finger is enrolled, on whatever reader, be its row sound or not.
    package static func areEnrolled(of profile: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM prints WHERE profile = ? AND state = 'enrolled')",
            arguments: [profile]
        ) ?? true
    }
}
