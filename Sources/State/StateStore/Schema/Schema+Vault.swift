// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Schema {
    /// The vault's tables, of version 3.
    ///
    /// The contents are usable only with the TPM that made them; `mac` covers the whole row. Profiles without a print
    /// have items too, so there is no foreign key.
    static let vaultTables = """
        -- object: public and private part as the TPM gave them. body: the ciphertext of a secret that is larger than
        -- the TPM takes. binding: what the policy names besides the authority.
        CREATE TABLE vault_items (
            profile TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('secret', 'key')),
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

    static let addVault: @Sendable (Database) throws -> Void = { db in try db.execute(sql: vaultTables) }
}
