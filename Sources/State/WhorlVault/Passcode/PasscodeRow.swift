// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import WhorlSQLite
import WhorlStateStore
import WhorlTPM

/// The row of a profile's passcode in the database.
///
/// It contains the TPM object and the derivation of its authorization value, but does not reveal the passcode.
struct PasscodeRow: Sendable {
    let profile: String
    let object: TPMObject
    let derivation: PasscodeDerivation
    let setAt: Double

    private static let table = "vault_passcodes"

    private var columns: [Data] {
        [
            Data(profile.utf8), Data(object.serialized), derivation.encoded, Data(column: setAt),
        ]
    }

    /// Stores a passcode if none is set, or returns `false` if there already is one.
    func insert(_ db: Database, _ seal: RowMAC) throws -> Bool {
        try db.execute(
            sql: "INSERT INTO vault_passcodes VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            arguments: [
                profile, Data(object.serialized), derivation.encoded, setAt,
                seal.code(PasscodeRow.table, columns),
            ]
        )
        return db.changesCount == 1
    }

    /// Replaces `old` with this row, or returns `false` if `old` is no longer the current passcode.
    func replace(_ old: PasscodeRow, _ db: Database, _ seal: RowMAC) throws -> Bool {
        try PasscodeRow.delete(old, db) && insert(db, seal)
    }

    static func delete(_ row: PasscodeRow, _ db: Database) throws -> Bool {
        try db.execute(
            sql: "DELETE FROM vault_passcodes WHERE profile = ? AND object = ?",
            arguments: [row.profile, Data(row.object.serialized)]
        )
        return db.changesCount == 1
    }

    /// Reads the current passcode, or returns `nil` if none is set.
    ///
    /// - Throws: `SQLITE_CORRUPT` if Whorl did not write the row.
    static func read(_ profile: String, _ db: Database, _ seal: RowMAC) throws -> PasscodeRow? {
        try db.first(sql: "SELECT * FROM vault_passcodes WHERE profile = ?", arguments: [profile]) { row in
            guard let object: Data = row["object"], let derivation: Data = row["derivation"],
                let setAt: Double = row["set_at"], let mac: Data = row["mac"],
                seal.isValid(mac, table, [Data(profile.utf8), object, derivation, Data(column: setAt)]),
                let object = try? TPMObject(serialized: [UInt8](object)),
                let derivation = PasscodeDerivation(encoded: derivation)
            else {
                throw DatabaseError.corrupt("a row of vault_passcodes was changed")
            }
            return PasscodeRow(profile: profile, object: object, derivation: derivation, setAt: setAt)
        }
    }
}

/// A passcode row without a TPM object, used for testing apps.
///
/// It makes the keychain behave as if a passcode were set.
///
/// It cannot be compared with a passcode and does not unlock anything. A vault with a TPM reports the row as tampered
/// with.
package enum SimulatedPasscode {
    /// Adds or removes a profile's test row.
    package static func set(_ isSet: Bool, of profile: String, _ db: Database) throws {
        try db.execute(
            sql: isSet
                ? "INSERT OR IGNORE INTO vault_passcodes VALUES (?, x'', x'', 0, x'')"
                : "DELETE FROM vault_passcodes WHERE profile = ?",
            arguments: [profile]
        )
    }
}
