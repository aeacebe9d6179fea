// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The row of a profile whose login password is provided by a touch at login.
package struct LoginPassword: Sendable {
    /// The sealed password, or `nil` until it has been typed.
    package let item: SealedItem?
    /// The day of the password's last change, in days since 1970-01-01, or `nil` if the login did not provide it.
    package let changedOn: Int?
}

/// Functions for the sealed login password in the table `login_passwords`.
///
/// The row does not need a MAC because the sealed item has one, and a row that was added by someone else does not
/// contain a password.
extension Vault {
    /// Returns the row of a profile, or `nil` if the keyring is disabled.
    package func loginPassword(of profile: String) async throws(ServiceError) -> LoginPassword? {
        let row = try await database.read { db in
            try db.first(
                sql: "SELECT item, changed_on FROM login_passwords WHERE profile = ?",
                arguments: [profile]
            ) { (encoded: $0[0] as Data?, changedOn: $0[1] as Int?) }
        }
        guard let row else { return nil }
        let item: SealedItem?
        // Bytes that are not an item contain no password; the next one that is typed replaces them.
        do throws(ServiceError) { item = try row.encoded.map(SealedItem.init(encoded:)) } catch { item = nil }
        return LoginPassword(item: item, changedOn: row.changedOn)
    }

    /// Adds a row without a password, but leaves an existing row unchanged.
    package func addLoginPassword(of profile: String) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO login_passwords (profile) VALUES (?)",
                arguments: [profile]
            )
        }
    }

    /// Replaces or discards the sealed password.
    ///
    /// This does nothing if the keyring is disabled.
    package func setLoginPassword(
        _ item: SealedItem?,
        changedOn day: Int?,
        of profile: String
    ) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(
                sql: "UPDATE login_passwords SET item = ?, changed_on = ? WHERE profile = ?",
                arguments: [item?.encoded, day, profile]
            )
        }
    }

    /// Deletes the row and the sealed password.
    package func deleteLoginPassword(of profile: String) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(sql: "DELETE FROM login_passwords WHERE profile = ?", arguments: [profile])
        }
    }
}
