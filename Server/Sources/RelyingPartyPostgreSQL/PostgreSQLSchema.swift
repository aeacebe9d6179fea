// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty

/// The tables, in a separate schema; a missing device is stored as an empty string.
enum PostgreSQLSchema {
    static let version = 1
    /// The lock that serializes instances started at the same time: "WhLi" in ASCII.
    private static let lock = 0x5768_4c69

    /// Creates missing tables if requested; leaves a schema of another program or version unchanged.
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
            guard found == "\(version)" else {
                throw refusal("schema \(found ?? "?"), this program knows \(version)")
            }
            try addChallengeKey(&connection)
        }
    }

    /// Creates the key for challenges, which never changes, because PostgreSQL does not lose used challenges.
    private static func addChallengeKey(_ connection: inout PostgreSQLConnection) throws(PostgreSQLFailure) {
        _ = try connection.run(
            "INSERT INTO whorl_login.documents (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [.text(ChallengeKey.document), .bytes(ChallengeKey.make())]
        )
    }

    private static func refusal(_ why: String) -> PostgreSQLFailure {
        PostgreSQLFailure(state: "", text: why)
    }

    /// Names are compared byte by byte, with the C collation.
    private static let tables = """
        CREATE SCHEMA whorl_login;
        CREATE TABLE whorl_login.meta (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO whorl_login.meta VALUES ('version', '\(version)');

        -- Challenges are sealed, and not kept: only what was answered is, in the order of its expiry.
        CREATE TABLE whorl_login.used_nonces (
            nonce bytea PRIMARY KEY CHECK (length(nonce) = 16)
        );

        -- Not logged: a count that a crash takes is no loss, and each request writes one.
        CREATE UNLOGGED TABLE whorl_login.tries (
            bucket text COLLATE "C" PRIMARY KEY,
            ends_at int8 NOT NULL,
            count int8 NOT NULL
        ) WITH (fillfactor = 50);
        CREATE INDEX tries_by_end ON whorl_login.tries (ends_at);

        -- approved: 'operator', or 'device ' and the name of the device that has approved this one. attested: what the
        -- chip has proven of a key, beside the name of that key. Both are NULL where there is none.
        CREATE TABLE whorl_login.devices (
            "user" text COLLATE "C" NOT NULL,
            device text COLLATE "C" NOT NULL,
            key_id text COLLATE "C" NOT NULL UNIQUE,
            key bytea NOT NULL,
            name text NOT NULL,
            enabled_at int8 NOT NULL,
            last_used_at int8,
            domain_state bytea,
            approved text,
            attested text,
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
        CREATE INDEX audit_refused_passwords ON whorl_login.audit (id) WHERE event = 'password_refused';
        CREATE INDEX audit_others ON whorl_login.audit (id) WHERE event <> 'password_refused';

        CREATE TABLE whorl_login.documents (name text COLLATE "C" PRIMARY KEY, data bytea NOT NULL);
        """
}
