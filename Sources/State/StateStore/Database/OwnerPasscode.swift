// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// A query for whether the owner of a profile has a passcode, from the rows of the vault.
///
/// It is in this module because both the vault and the store of fingers decide by it, in their own transactions.
package enum OwnerPasscode {
    /// Returns whether a passcode is set, even if its row is damaged.
    package static func isSet(of profile: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM vault_passcodes WHERE profile = ?)",
            arguments: [profile]
        ) ?? true
    }
}

/// A query for whether a profile has enrolled fingers, from the rows of the store of fingers.
package enum OwnerFingers {
    /// Returns whether any finger is enrolled, on any reader, even if its row is damaged.
    package static func areEnrolled(of profile: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM prints WHERE profile = ? AND state = 'enrolled')",
            arguments: [profile]
        ) ?? true
    }
}
