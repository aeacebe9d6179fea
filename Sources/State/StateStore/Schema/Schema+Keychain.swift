// SPDX-License-Identifier: Apache-2.0

package import GRDB

extension Schema {
    /// Version 4: the keychain's table.
    ///
    /// `record` contains all attributes in one encoding, and decides; the columns beside it repeat some of them, so
    /// that an index finds the row. `mac` covers the record and the value.
    static let keychainTables = """
        -- id: random, never given to another row; a persistent reference names it. name: what must be there once only,
        -- as a code of the class's own attributes. sealing: what the value is sealed with: 1 a key of the state key,
        -- 2 the chip (a secret), 3 the chip (a key).
        CREATE TABLE keychain_items (
            id INTEGER PRIMARY KEY,
            profile TEXT NOT NULL,
            class TEXT NOT NULL CHECK (class IN ('genp', 'inet', 'keys', 'cert')),
            agrp TEXT NOT NULL,
            pdmn TEXT NOT NULL,
            name BLOB NOT NULL CHECK (length(name) = 32),
            svce BLOB,
            srvr BLOB,
            acct BLOB,
            labl BLOB,
            klbl BLOB,
            atag BLOB,
            record BLOB NOT NULL,
            sealing INTEGER NOT NULL CHECK (sealing IN (1, 2, 3)),
            value BLOB NOT NULL,
            mac BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX keychain_names ON keychain_items (name);
        CREATE INDEX keychain_groups ON keychain_items (profile, agrp, class, svce, acct);
        CREATE INDEX keychain_accounts ON keychain_items (profile, agrp, class, acct) WHERE acct IS NOT NULL;
        CREATE INDEX keychain_servers ON keychain_items (profile, agrp, class, srvr) WHERE srvr IS NOT NULL;
        CREATE INDEX keychain_labels ON keychain_items (profile, agrp, class, labl) WHERE labl IS NOT NULL;
        CREATE INDEX keychain_key_labels ON keychain_items (profile, agrp, class, klbl) WHERE klbl IS NOT NULL;
        CREATE INDEX keychain_key_tags ON keychain_items (profile, agrp, class, atag) WHERE atag IS NOT NULL;
        CREATE INDEX keychain_passcode_bound ON keychain_items (profile) WHERE pdmn = 'akpu';
        """

    static let addKeychain: @Sendable (Database) throws -> Void = { db in
        try db.execute(sql: keychainTables)
    }
}

/// The keychain's items that exist only as long as the passcode (`kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`).
///
/// The removal of the passcode deletes them in the same transaction, so that at no moment only one of the two is gone.
package enum PasscodeBoundItems {
    /// Deletes the items of a profile, or of all profiles if `profile` is `nil`.
    package static func delete(of profile: String?, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM keychain_items WHERE pdmn = 'akpu' AND profile = coalesce(?, profile)",
            arguments: [profile]
        )
    }

    /// Returns the number of such items of a profile.
    package static func count(of profile: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM keychain_items WHERE pdmn = 'akpu' AND profile = ?",
            arguments: [profile]
        ) ?? 0
    }
}
