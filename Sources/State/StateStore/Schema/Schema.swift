// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables of the database.
///
/// The modules above read and write their own tables with GRDB.
///
/// Times are seconds since 1970-01-01 UTC. A changed schema gets a new `version` and a step from the previous one
/// (`Schema+Steps.swift`).
enum Schema {
    /// The version of the schema, stored in `PRAGMA user_version`.
    static let version: UInt32 = 6

    /// The application ID "WHRL", stored in `PRAGMA application_id`, by which `file(1)` and Whorl recognise the
    /// database.
    static let applicationID: UInt32 = 0x5748_524C

    /// Makes the tables in an empty database.
    static func create(_ db: Database) throws {
        try db.execute(sql: tables)
        try db.execute(sql: vaultTables)
        try db.execute(sql: keychainTables)
        try db.execute(sql: loginTables)
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// The table of attempts, without a foreign key, since failures also count for profiles that have no print.
    ///
    /// Real and simulated readers have separate rows, so that a match on a mock does not affect the tries on a real
    /// reader.
    static let attempts = """
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
        """

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

        \(attempts)

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

        -- AUTOINCREMENT: an id is never used twice, so that a deleted entry leaves a gap.
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
            asker TEXT
        ) STRICT;
        """
}
