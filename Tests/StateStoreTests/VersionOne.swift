// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import StateStore

/// A database as version 1 of the schema wrote it, which is kept here as text: what is on people's disks does not
/// change with the program.
enum VersionOne {
    /// Puts a database of version 1 in the place of the one in `home`, with that one's key.
    static func replaceDatabase(of home: TemporaryDirectory, filling: String = "") throws {
        _ = try StateDatabase(directory: home.state)
        let path = home.file("whorl.sqlite")
        let check = try DatabaseQueue(path: path).read { db in
            try Data.fetchOne(db, sql: "SELECT key_check FROM identity")
        }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: tables)
            try db.execute(sql: "PRAGMA application_id = \(0x5748_524C); PRAGMA user_version = 1")
            try db.execute(sql: "UPDATE identity SET key_check = ?", arguments: [check])
            try db.execute(sql: filling)
        }
        try queue.writeWithoutTransaction { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        try queue.close()
        chmod(path, 0o600)
    }

    private static let tables = """
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            key_check BLOB
        ) STRICT;
        INSERT INTO identity (id) VALUES (1);

        CREATE TABLE profiles (
            name TEXT PRIMARY KEY,
            generation INTEGER NOT NULL CHECK (generation >= 0),
            manifest_mac BLOB NOT NULL,
            created_at REAL NOT NULL
        ) STRICT, WITHOUT ROWID;

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

        CREATE TABLE enrollment_history (
            profile TEXT NOT NULL REFERENCES profiles (name),
            generation INTEGER NOT NULL,
            encoding BLOB NOT NULL,
            PRIMARY KEY (profile, generation)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE attempts (
            profile TEXT PRIMARY KEY,
            failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
            pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
            total_failures INTEGER NOT NULL DEFAULT 0 CHECK (total_failures >= 0),
            lockouts INTEGER NOT NULL DEFAULT 0 CHECK (lockouts >= 0),
            locked_until_boot REAL,
            locked_until_wall REAL,
            boot_id TEXT
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

        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            profile TEXT NOT NULL,
            application TEXT NOT NULL,
            event TEXT NOT NULL,
            outcome TEXT NOT NULL,
            finger INTEGER,
            reader TEXT,
            detail TEXT
        ) STRICT;
        """
}
