// SPDX-License-Identifier: Apache-2.0

package import WhorlSQLite

/// A query for whether the owner of a profile has a passcode, based on the vault's rows.
///
/// It is in this module because both the vault and the enrollment store use it in their own transactions.
package enum OwnerPasscode {
    /// Returns whether a passcode is set, even if its row is damaged.
    package static func isSet(of profile: String, _ db: Database) throws -> Bool {
        try db.hasRow("vault_passcodes WHERE profile = ?", of: profile)
    }
}

/// A query for whether a profile has enrolled fingers, based on the enrollment store's rows.
package enum OwnerFingers {
    /// Returns whether any finger is enrolled on any reader, even if its row is damaged.
    package static func areEnrolled(of profile: String, _ db: Database) throws -> Bool {
        try db.hasRow("prints WHERE profile = ? AND state = 'enrolled'", of: profile)
    }
}

/// A query for whether a profile has ever stored something that a finger could unlock.
package enum OwnerItems {
    /// Returns whether the profile has an item, a keychain item or a sealed password, or whether a program had an item
    /// sealed, according to the log.
    package static func exist(of profile: String, _ db: Database) throws -> Bool {
        for table in ["vault_items", "keychain_items", "login_passwords", "keyring_passwords"]
        where try db.hasRow("\(table) WHERE profile = ?", of: profile) { return true }
        return try db.hasRow("audit WHERE profile = ? AND outcome = 'itemMade'", of: profile)
    }
}

extension Database {
    fileprivate func hasRow(_ condition: String, of profile: String) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM \(condition))"
        return try value(sql: sql, arguments: [profile]) ?? true
    }
}

/// The keychain items that exist only while a passcode is set (`kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`).
///
/// Removing the passcode deletes these items in the same transaction, so that both are always removed together.
package enum PasscodeBoundItems {
    /// Deletes the items of a profile, or those of all profiles if `profile` is `nil`.
    package static func delete(of profile: String?, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM keychain_items WHERE pdmn = 'akpu' AND profile = coalesce(?, profile)",
            arguments: [profile]
        )
    }

    /// Returns the number of such items that a profile has.
    package static func count(of profile: String, _ db: Database) throws -> Int {
        try db.value(
            sql: "SELECT count(*) FROM keychain_items WHERE pdmn = 'akpu' AND profile = ?",
            arguments: [profile]
        ) ?? 0
    }
}
