// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables, and the migration of those of an earlier version.
///
/// Names are compared byte by byte, which is SQLite's default; a missing device is stored as an empty string.
enum SQLiteSchema {
    static let version = 4

    static func create(_ db: Database) throws {
        try createFirst(db)
        try migrate(db, from: 1)
        try db.execute(sql: "PRAGMA application_id = \(SQLiteFile.applicationID)")
    }

    /// Runs all steps from a version to this one; the caller has begun a transaction.
    static func migrate(_ db: Database, from version: Int) throws {
        for step in steps[(version - 1)...] { try db.execute(sql: step) }
        try db.execute(sql: "PRAGMA user_version = \(Self.version)")
    }

    /// The migrations: from version 1 to 2, and so on.
    private static let steps = [
        """
        -- By whom the device was approved: 'operator', or 'device ' and its name; not at all where it is NULL.
        ALTER TABLE devices ADD COLUMN approved TEXT;
        CREATE INDEX audit_refused_passwords ON audit (id) WHERE event = 'password_refused';
        CREATE INDEX audit_others ON audit (id) WHERE event <> 'password_refused';
        """,
        """
        -- Challenges are sealed, and not kept: only what was answered is, in the order of its expiry.
        DROP TABLE challenges;
        CREATE TABLE used_nonces (
            nonce BLOB PRIMARY KEY CHECK (length(nonce) = 16)
        ) STRICT, WITHOUT ROWID;
        -- Lines are kept for a time, and those of each user up to a number.
        DROP INDEX audit_others;
        """,
        """
        -- What the chip has proven of a key, beside the name of that key; not at all where it is NULL.
        ALTER TABLE devices ADD COLUMN attested TEXT;
        """,
    ]

    /// Makes the tables of version 1.
    private static func createFirst(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

                -- The key is the digest, so that taking one finds it at once; a newer one replaces the last.
                CREATE TABLE challenges (
                    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
                    user TEXT NOT NULL,
                    device TEXT NOT NULL,
                    use TEXT NOT NULL CHECK (use IN ('enable', 'login', 'raw')),
                    expires_at INTEGER NOT NULL,
                    UNIQUE (user, device, use)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX challenges_by_end ON challenges (expires_at);

                CREATE TABLE tries (
                    bucket TEXT PRIMARY KEY,
                    ends_at INTEGER NOT NULL,
                    count INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX tries_by_end ON tries (ends_at);

                CREATE TABLE devices (
                    user TEXT NOT NULL,
                    device TEXT NOT NULL,
                    key_id TEXT NOT NULL UNIQUE,
                    key BLOB NOT NULL,
                    name TEXT NOT NULL,
                    enabled_at INTEGER NOT NULL,
                    last_used_at INTEGER,
                    domain_state BLOB,
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
                CREATE INDEX audit_by_user ON audit (user, id);

                CREATE TABLE documents (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
                """
        )
    }
}
