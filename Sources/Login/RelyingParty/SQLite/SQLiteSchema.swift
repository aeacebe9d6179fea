// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of the database.
///
/// Names are compared byte by byte, which is SQLite's default; a missing device is stored as an empty string.
enum SQLiteSchema {
    static let version = 1

    static func create(_ db: Database) throws {
        try db.execute(sql: tables)
        try db.execute(sql: "PRAGMA application_id = \(SQLiteFile.applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static let tables = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

        -- Challenges are sealed, and not kept: only what was answered is, in the order of its expiry.
        CREATE TABLE used_nonces (
            nonce BLOB PRIMARY KEY CHECK (length(nonce) = 16)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tries (
            bucket TEXT PRIMARY KEY,
            ends_at INTEGER NOT NULL,
            count INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tries_by_end ON tries (ends_at);

        -- approved: 'operator', or 'device ' and the name of the device that has approved this one. attested: what the
        -- chip has proven of a key, beside the name of that key. Both are NULL where there is none.
        CREATE TABLE devices (
            user TEXT NOT NULL,
            device TEXT NOT NULL,
            key_id TEXT NOT NULL UNIQUE,
            key BLOB NOT NULL,
            name TEXT NOT NULL,
            enabled_at INTEGER NOT NULL,
            last_used_at INTEGER,
            domain_state BLOB,
            approved TEXT,
            attested TEXT,
            PRIMARY KEY (user, device)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            event TEXT NOT NULL,
            user TEXT NOT NULL,
            device TEXT NOT NULL,
            address TEXT NOT NULL,
            reason TEXT
        ) STRICT;
        -- Lines are kept for a time, and those of each user up to a number.
        CREATE INDEX audit_by_user ON audit (user, id);
        CREATE INDEX audit_refused_passwords ON audit (id) WHERE event = 'password_refused';

        CREATE TABLE documents (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
        """
}
