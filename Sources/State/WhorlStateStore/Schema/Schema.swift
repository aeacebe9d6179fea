// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite

/// The tables of the database.
///
/// The modules above read and write their own tables with WhorlSQLite. Times are stored in seconds since 1970-01-01
/// UTC. To change the schema, add a step to ``steps``.
enum Schema {
    /// The steps that update each version to the next, starting with version 1.
    static let steps: [Step] = [
        { db in try db.execute(script: keyringTable) },
        // The check of a column cannot be changed, so the table is made again.
        { db in
            try db.execute(sql: "ALTER TABLE vault_items RENAME TO older_vault_items")
            try db.execute(script: itemTable)
            try db.execute(sql: "INSERT INTO vault_items SELECT * FROM older_vault_items")
            try db.execute(sql: "DROP TABLE older_vault_items")
        },
    ]

    /// The version of the schema, stored in `PRAGMA user_version`.
    static let version = UInt32(steps.count) + 1

    /// The application ID "WHRL", stored in `PRAGMA application_id`.
    ///
    /// `file(1)` and Whorl use it to identify the database.
    static let applicationID: UInt32 = 0x5748_524C

    /// Creates the tables in an empty database.
    static func create(_ db: Database) throws {
        try db.execute(script: tables)
        try db.execute(script: itemTable)
        try db.execute(script: vaultTables)
        try db.execute(script: keychainTables)
        try db.execute(script: loginTables)
        try db.execute(script: keyringTable)
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static let tables = """
        -- One row. key_check is NULL until a state key was made; then it tells whether a key is the right one.
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            key_check BLOB
        ) STRICT;
        INSERT INTO identity (id) VALUES (1);

        -- A profile stays after its last print is gone: its generation must never go back. epoch is NULL until the
        -- generations were used up; then it is random, and they begin anew.
        CREATE TABLE profiles (
            name TEXT PRIMARY KEY,
            generation INTEGER NOT NULL CHECK (generation >= 0),
            manifest_mac BLOB NOT NULL,
            created_at REAL NOT NULL,
            epoch BLOB CHECK (epoch IS NULL OR length(epoch) = 16)
        ) STRICT, WITHOUT ROWID;

        -- state: 'enrolled'; for readers that keep prints in themselves also 'pending' (an enrollment has begun;
        -- template holds what the reader kept before) and 'removing' (not enrolled any more, still in the reader).
        -- access: who could open the reader when the print was enrolled.
        CREATE TABLE prints (
            id TEXT PRIMARY KEY,
            profile TEXT NOT NULL REFERENCES profiles (name) DEFERRABLE INITIALLY DEFERRED,
            finger INTEGER NOT NULL CHECK (finger BETWEEN 1 AND 10),
            label TEXT,
            reader TEXT NOT NULL,
            reader_name TEXT NOT NULL,
            storage TEXT NOT NULL CHECK (storage IN ('host', 'reader')),
            template BLOB,
            template_digest BLOB CHECK (template_digest IS NULL OR length(template_digest) = 32),
            enrolled_at REAL NOT NULL,
            last_matched_at REAL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'enrolled', 'removing')),
            access TEXT NOT NULL DEFAULT 'unknown' CHECK (access IN ('closed', 'open', 'unknown', 'pretended')),
            CHECK (state = 'pending' OR (template IS NOT NULL AND template_digest IS NOT NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX one_print_per_finger ON prints (profile, reader, finger) WHERE state = 'enrolled';

        -- What the enrollment set was at each generation, to tell what has changed since a digest.
        CREATE TABLE enrollment_history (
            profile TEXT NOT NULL REFERENCES profiles (name),
            generation INTEGER NOT NULL,
            encoding BLOB NOT NULL,
            PRIMARY KEY (profile, generation)
        ) STRICT, WITHOUT ROWID;

        -- Without a foreign key, since failures also count for profiles that have no print. Real and simulated readers
        -- have separate rows, so that a match on a mock does not affect the tries on a real reader.
        CREATE TABLE attempts (
            profile TEXT NOT NULL,
            reader_class TEXT NOT NULL CHECK (reader_class IN ('real', 'pretended')),
            failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
            pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
            total_failures INTEGER NOT NULL DEFAULT 0 CHECK (total_failures >= 0),
            lockouts INTEGER NOT NULL DEFAULT 0 CHECK (lockouts >= 0),
            locked_until_boot REAL,
            locked_until_wall REAL,
            boot_id TEXT,
            PRIMARY KEY (profile, reader_class)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reuse (
            profile TEXT PRIMARY KEY,
            payload BLOB NOT NULL,
            mac BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE opt_outs (
            profile TEXT NOT NULL,
            application TEXT NOT NULL,
            PRIMARY KEY (profile, application)
        ) STRICT, WITHOUT ROWID;

        -- AUTOINCREMENT: an id is never used twice, so that a deleted entry leaves a gap. Lines are limited by their
        -- kind.
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            profile TEXT NOT NULL,
            application TEXT NOT NULL,
            event TEXT NOT NULL,
            outcome TEXT NOT NULL,
            finger INTEGER,
            reader TEXT,
            detail TEXT,
            asker TEXT,
            kind INTEGER NOT NULL DEFAULT 0,
            repeats INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE INDEX audit_kinds ON audit (profile, kind, id);
        """

    /// The vault's tables.
    ///
    /// The contents can be used only with the TPM that created them. `mac` covers the whole row. There is no foreign
    /// key, because profiles without a print can also have items.
    private static let itemTable = """
        -- object: public and private part as the TPM gave them. body: the ciphertext of a secret that is larger than
        -- the TPM takes. binding: what the policy names besides the authority.
        CREATE TABLE vault_items (
            profile TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('secret', 'key', 'sshKey')),
            name TEXT NOT NULL,
            id BLOB NOT NULL CHECK (length(id) = 16),
            access BLOB NOT NULL,
            binding BLOB NOT NULL,
            object BLOB NOT NULL,
            body BLOB,
            created_at REAL NOT NULL,
            mac BLOB NOT NULL,
            PRIMARY KEY (profile, kind, name)
        ) STRICT;
        """

    /// The vault's other tables.
    private static let vaultTables = """
        -- shift: what is added to the TPM's counter to get the generation; it lets a profile keep its generation
        -- when it gets a new counter.
        CREATE TABLE vault_counters (
            profile TEXT PRIMARY KEY,
            counter BLOB NOT NULL,
            shift INTEGER NOT NULL,
            mac BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE vault_passcodes (
            profile TEXT PRIMARY KEY,
            object BLOB NOT NULL,
            derivation BLOB NOT NULL,
            set_at REAL NOT NULL,
            mac BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Tries since the last right passcode. It outlives the passcode, so that a new one gives no new tries.
        CREATE TABLE vault_tries (
            profile TEXT PRIMARY KEY,
            failures INTEGER NOT NULL CHECK (failures >= 0),
            last_boot INTEGER NOT NULL,
            last_wall INTEGER NOT NULL,
            boot_id TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// The keychain's table.
    ///
    /// `record` contains all attributes in one encoding and is authoritative. Other columns repeat some of the
    /// attributes for indexing. `mac` covers the record and the value.
    private static let keychainTables = """
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

    /// The table for logins.
    private static let loginTables = """
        -- A row: the owner wants a touch at the login to hand over the login password. item: the password as a sealed
        -- item of the vault; NULL until it was typed. changed_on: the day of the password's last change, in days since
        -- 1970-01-01, as the login told it; NULL where it did not.
        CREATE TABLE login_passwords (
            profile TEXT PRIMARY KEY,
            item BLOB,
            changed_on INTEGER
        ) STRICT, WITHOUT ROWID;
        """

    /// The table for keyrings that have their own password, added in version 2.
    private static let keyringTable = """
        -- item: the keyring's password as a sealed item of the vault, for a finger or the passcode; empty after the vault
        -- was reset. for_logins: the same password, sealed under the login password; NULL where no login releases it.
        -- digest: its SHA-256.
        CREATE TABLE keyring_passwords (
            profile TEXT PRIMARY KEY,
            item BLOB NOT NULL,
            for_logins BLOB,
            digest BLOB NOT NULL CHECK (length(digest) = 32)
        ) STRICT, WITHOUT ROWID;
        """
}
