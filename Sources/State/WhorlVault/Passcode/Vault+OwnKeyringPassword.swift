// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import WhorlSecretHash
package import WhorlSecretMemory
import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The keyring's own password in the database.
package struct OwnKeyringPassword: Sendable {
    /// The password, sealed for a finger or the passcode; `nil` if it was lost when the vault was reset.
    package let item: SealedItem?
    /// The password, sealed under the login password; `nil` if a login does not release it.
    package let forLogins: SealedItem?
    /// The password's SHA-256 digest, which does not reveal it because the password has 160 random bits.
    private let digest: Data

    /// Creates the row of a new password.
    package init(_ item: SealedItem, forLogins: SealedItem?, of password: SecretBox) {
        self.item = item
        self.forLogins = forLogins
        digest = Self.digest(of: password)
    }

    fileprivate init?(item: Data, forLogins: Data?, digest: Data) {
        // Bytes that are not an item contain no password.
        do throws(ServiceError) {
            self.item = item.isEmpty ? nil : try SealedItem(encoded: item)
            self.forLogins = try forLogins.map(SealedItem.init(encoded:))
        } catch { return nil }
        self.digest = digest
    }

    /// Returns whether this is the row of the password.
    package func `is`(_ password: SecretBox) -> Bool { Self.digest(of: password) == digest }

    /// Creates a password of 160 random bits: 8 groups of 4 letters or digits, separated by hyphens.
    ///
    /// A person can type it from a recovery sheet: it has no I, L, O or U, which look like others.
    package static func random() -> SecretBox {
        let letters: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        let random = SecretBytes(randomCount: 32)
        return SecretBox(
            SecretBytes(count: 39) { room in
                random.withUnsafeBytes { random in
                    for (index, byte) in random.enumerated() {
                        room[index + index / 4] = letters.utf8Start[Int(byte & 31)]
                    }
                }
                for index in stride(from: 4, to: 39, by: 5) { room[index] = UInt8(ascii: "-") }
            }
        )
    }

    private static func digest(of password: SecretBox) -> Data {
        password.bytes.withUnsafeBytes { Data(SecretHash<SHA256>.hash($0)) }
    }

    fileprivate var columns: (item: Data, forLogins: Data?, digest: Data) {
        (item?.encoded ?? Data(), forLogins?.encoded, digest)
    }

    /// Removes what the vault has sealed, but remembers that there are such passwords.
    static func lose(_ db: Database) throws {
        try db.execute(sql: "UPDATE keyring_passwords SET item = x'', for_logins = NULL")
    }
}

/// Functions for the keyring's own password in the table `keyring_passwords`.
///
/// As in `login_passwords`, the sealed items have a MAC, and the row does not need another one.
extension Vault {
    /// Returns a profile's row, or `nil` if the keyring has no password of its own.
    package func ownPassword(of profile: String) async throws(ServiceError) -> OwnKeyringPassword? {
        try await database.read { db in
            try db.first(
                sql: "SELECT item, for_logins, digest FROM keyring_passwords WHERE profile = ?",
                arguments: [profile]
            ) { OwnKeyringPassword(item: $0[0] ?? Data(), forLogins: $0[1], digest: $0[2] ?? Data()) } ?? nil
        }
    }

    /// Adds a row, and deletes the sealed login password, which it replaces; a lost password is replaced as well.
    ///
    /// - Throws: `changedMeanwhile` if there is a row already; a storage error.
    package func addOwnPassword(_ own: OwnKeyringPassword, of profile: String) async throws(ServiceError) {
        let isAdded = try await database.write(.full) { db in
            try db.execute(
                sql: "DELETE FROM keyring_passwords WHERE profile = ? AND item = x''",
                arguments: [profile]
            )
            try db.execute(
                sql:
                    "INSERT INTO keyring_passwords (profile, item, for_logins, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                arguments: [profile, own.columns.item, own.columns.forLogins, own.columns.digest]
            )
            guard db.changesCount == 1 else { return false }
            try db.execute(sql: "DELETE FROM login_passwords WHERE profile = ?", arguments: [profile])
            return true
        }
        guard isAdded else { throw ServiceError(.changedMeanwhile) }
    }

    /// Replaces the sealed items of the row with the same password, but not of a row that has replaced it.
    package func replaceOwnPassword(_ own: OwnKeyringPassword, of profile: String) async throws(ServiceError)
    {
        try await database.write(.full) { db in
            try db.execute(
                sql:
                    "UPDATE keyring_passwords SET item = ?, for_logins = ? WHERE profile = ? AND digest = ?",
                arguments: [own.columns.item, own.columns.forLogins, profile, own.columns.digest]
            )
        }
    }

    /// Replaces or deletes the copy for logins; does nothing if the keyring has no password of its own.
    package func setOwnPasswordForLogins(
        _ item: SealedItem?,
        of profile: String
    ) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(
                sql: "UPDATE keyring_passwords SET for_logins = ? WHERE profile = ?",
                arguments: [item?.encoded, profile]
            )
        }
    }

    /// Deletes this row, but not another one that has replaced it.
    package func deleteOwnPassword(_ own: OwnKeyringPassword, of profile: String) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(
                sql: "DELETE FROM keyring_passwords WHERE profile = ? AND digest = ?",
                arguments: [profile, own.columns.digest]
            )
        }
    }
}
