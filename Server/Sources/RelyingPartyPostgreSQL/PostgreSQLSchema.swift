// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

/// The tables, in a schema of their own; a missing device is stored as an empty string.
enum PostgreSQLSchema {
    static let version = 4
    /// The lock that makes instances wait for each other when they start at the same time: "WhLi" in ASCII.
    private static let lock = 0x5768_4c69

    /// Makes missing tables if that is asked for; leaves a schema unchanged that is not ours or of another version.
    static func prepare(
        _ connection: inout PostgreSQLConnection,
        _ ifMissing: MissingDatabase
    ) throws(PostgreSQLFailure) {
        let encoding = try connection.run("SELECT current_setting('server_encoding')", []).text(0, 0)
        guard encoding == "UTF8" else { throw refusal("the database is in \(encoding ?? "?"), not in UTF8") }
        try connection.transaction { connection throws(PostgreSQLFailure) in
            _ = try connection.run("SELECT pg_advisory_xact_lock($1)", [.int(lock)])
            let schema = try connection.run(
                "SELECT 1 FROM pg_namespace WHERE nspname = 'whorl_login'",
                []
            )
            guard schema.count == 1 else {
                guard ifMissing == .create else { throw refusal("there is no schema whorl_login") }
                try connection.run(tables)
                try migrate(&connection, from: 1)
                return try addChallengeKey(&connection)
            }
            let meta = try connection.run("SELECT to_regclass('whorl_login.meta') IS NOT NULL", [])
            guard meta.bool(0, 0) == true else {
                throw refusal("the schema whorl_login is another program's")
            }
            let found = try connection.run(
                "SELECT value FROM whorl_login.meta WHERE name = 'version'",
                []
            ).text(0, 0)
            guard let known = found.flatMap({ Int($0) }), (1...version).contains(known) else {
                throw refusal("schema \(found ?? "?"), this program knows 1 to \(version)")
            }
            try migrate(&connection, from: known)
            try addChallengeKey(&connection)
        }
    }

    /// Makes the key of challenges, which stays: PostgreSQL loses no answered challenge.
    private static func addChallengeKey(_ connection: inout PostgreSQLConnection) throws(PostgreSQLFailure) {
        _ = try connection.run(
            "INSERT INTO whorl_login.documents (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [.text(ChallengeKey.document), .bytes(ChallengeKey.make())]
        )
    }

    /// Runs all steps from a version to this one, in the transaction that the caller has begun.
    private static func migrate(
        _ connection: inout PostgreSQLConnection,
        from found: Int
    ) throws(PostgreSQLFailure) {
        guard found < version else { return }
        for step in steps[(found - 1)...] { try connection.run(step) }
        try connection.run("UPDATE whorl_login.meta SET value = '\(version)' WHERE name = 'version'")
    }

    /// The migrations: from version 1 to 2, and so on.
    private static let steps = [
        """
        -- By whom the device was approved: 'operator', or 'device ' and its name; not at all where it is NULL.
        ALTER TABLE whorl_login.devices ADD COLUMN approved text;
        CREATE INDEX audit_refused_passwords ON whorl_login.audit (id) WHERE event = 'password_refused';
        CREATE INDEX audit_others ON whorl_login.audit (id) WHERE event <> 'password_refused';
        """,
        """
        -- Challenges are sealed, and not kept: only what was answered is, in the order of its expiry. The table of
        -- challenges stays for instances of the version before, which run beside this one during an upgrade.
        CREATE TABLE whorl_login.used_nonces (
            nonce bytea PRIMARY KEY CHECK (length(nonce) = 16)
        );
        """,
        """
        -- What the chip has proven of a key, beside the name of that key: an instance of the version before gives a
        -- device another key and leaves this column.
        ALTER TABLE whorl_login.devices ADD COLUMN attested text;
        """,
    ]

    private static func refusal(_ why: String) -> PostgreSQLFailure {
        PostgreSQLFailure(state: "", text: why)
    }

    /// The tables of version 1.
    ///
    /// Names are compared byte by byte, in the C collation.
    private static let tables = """
        CREATE SCHEMA whorl_login;
        CREATE TABLE whorl_login.meta (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO whorl_login.meta VALUES ('version', '1');

        CREATE TABLE whorl_login.challenges (
            digest bytea PRIMARY KEY CHECK (length(digest) = 32),
            "user" text COLLATE "C" NOT NULL,
            device text COLLATE "C" NOT NULL,
            use text NOT NULL CHECK (use IN ('enable', 'login', 'raw')),
            expires_at int8 NOT NULL,
            UNIQUE ("user", device, use)
        );
        CREATE INDEX challenges_by_end ON whorl_login.challenges (expires_at);

        -- Not logged: a count that a crash takes is no loss, and each request writes one.
        CREATE UNLOGGED TABLE whorl_login.tries (
            bucket text COLLATE "C" PRIMARY KEY,
            ends_at int8 NOT NULL,
            count int8 NOT NULL
        ) WITH (fillfactor = 50);
        CREATE INDEX tries_by_end ON whorl_login.tries (ends_at);

        CREATE TABLE whorl_login.devices (
            "user" text COLLATE "C" NOT NULL,
            device text COLLATE "C" NOT NULL,
            key_id text COLLATE "C" NOT NULL UNIQUE,
            key bytea NOT NULL,
            name text NOT NULL,
            enabled_at int8 NOT NULL,
            last_used_at int8,
            domain_state bytea,
            PRIMARY KEY ("user", device)
        ) WITH (fillfactor = 80);

        CREATE TABLE whorl_login.audit (
            id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            at int8 NOT NULL,
            event text NOT NULL,
            "user" text COLLATE "C" NOT NULL,
            device text COLLATE "C" NOT NULL,
            address text NOT NULL,
            reason text
        );
        CREATE INDEX audit_by_user ON whorl_login.audit ("user", id);

        CREATE TABLE whorl_login.documents (name text COLLATE "C" PRIMARY KEY, data bytea NOT NULL);
        """
}
