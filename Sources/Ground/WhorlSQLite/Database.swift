// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// A connection to a database, valid during one access.
///
/// A ``DatabaseQueue`` passes it to one function at a time, which must not keep it.
package final class Database {
    private let connection: OpaquePointer
    private var cache = StatementCache()
    /// Whether statements that would change the database are rejected.
    private var isReading = false
    /// Called with the text of each statement before it runs, without its arguments; tests use it to count statements.
    package var trace: ((String) -> Void)?

    /// Opens a database file.
    ///
    /// - Parameters:
    ///   - path: The file, which must exist.
    ///   - isReadOnly: Whether this connection cannot write to the file.
    ///   - busyTimeout: The maximum time that a statement waits for those of other connections, in milliseconds.
    /// - Throws: SQLite's error, such as `SQLITE_CANTOPEN`.
    init(path: String, isReadOnly: Bool, busyTimeout: Int32) throws(DatabaseError) {
        // Only one thread at a time uses the connection, so SQLite's own mutex is not needed.
        let flags = (isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(opened.map { sqlite3_extended_errcode($0) } ?? code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        connection = opened
        sqlite3_extended_result_codes(connection, 1)
        sqlite3_busy_timeout(connection, busyTimeout)
        // A word in double quotes is never text, and functions in an untrusted schema are not called.
        for (option, value) in [
            (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (SQLITE_DBCONFIG_ENABLE_FKEY, 1),
        ] as [(Int32, Int32)] {
            try check(whorl_sqlite_set(connection, option, value))
        }
        // Deleted data must not remain in the file.
        try execute(sql: "PRAGMA secure_delete = ON")
    }

    deinit {
        cache.empty()
        sqlite3_close_v2(connection)
    }

    /// Closes the connection, and moves the log into the file if no other connection is open.
    func close() throws(DatabaseError) {
        cache.empty()
        try check(sqlite3_close(connection))
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changesCount: Int { Int(sqlite3_changes(connection)) }
    /// The number of rows that this connection has changed.
    package var totalChangesCount: Int { Int(sqlite3_total_changes(connection)) }

    // MARK: - Statements

    /// Runs one statement and ignores any rows that it returns.
    package func execute(sql: String, arguments: [(any DatabaseValue)?] = []) throws(DatabaseError) {
        let statement = try prepared(sql, arguments)
        defer { cache.keep(statement, sql) }
        while try step(statement) {}
    }

    /// Runs a series of statements, one after the other, without arguments.
    package func execute(script: String) throws(DatabaseError) {
        guard !isReading else { throw DatabaseError(SQLITE_READONLY) }
        try check(sqlite3_exec(connection, script, nil, nil, nil))
    }

    /// Returns the result of `body` for the first row; `nil` if there are no rows.
    package func first<Value>(
        sql: String,
        arguments: [(any DatabaseValue)?] = [],
        _ body: (borrowing Row) throws -> Value
    ) throws -> Value? {
        var first: Value?
        try each(sql: sql, arguments: arguments) { row in
            first = try body(row)
            return false
        }
        return first
    }

    /// Returns the results of `body`, one for each row.
    package func all<Value>(
        sql: String,
        arguments: [(any DatabaseValue)?] = [],
        _ body: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        var all: [Value] = []
        try each(sql: sql, arguments: arguments) { row in
            all.append(try body(row))
            return true
        }
        return all
    }

    /// Returns the value in the first column of the first row; `nil` if there is no row or the value is NULL.
    ///
    /// - Throws: `SQLITE_CORRUPT` for a value of another type.
    package func value<Value: DatabaseValue>(
        sql: String,
        arguments: [(any DatabaseValue)?] = []
    ) throws(DatabaseError) -> Value? {
        let statement = try prepared(sql, arguments)
        defer { cache.keep(statement, sql) }
        return try step(statement) ? Row(statement).optionalColumn(0) : nil
    }

    /// Returns the values in the first column of all rows.
    ///
    /// - Throws: `SQLITE_CORRUPT` for NULL and for a value of another type.
    package func values<Value: DatabaseValue>(sql: String, arguments: [(any DatabaseValue)?] = []) throws
        -> [Value]
    {
        try all(sql: sql, arguments: arguments) { try $0.column(0) }
    }

    /// Passes rows to `body` until it returns `false`.
    package func each(
        sql: String,
        arguments: [(any DatabaseValue)?] = [],
        _ body: (borrowing Row) throws -> Bool
    ) throws {
        let statement = try prepared(sql, arguments)
        defer { cache.keep(statement, sql) }
        while try step(statement), try body(Row(statement)) {}
    }

    /// Returns whether a table exists.
    package func tableExists(_ name: String) throws(DatabaseError) -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)"
        return try value(sql: sql, arguments: [name]) ?? false
    }

    /// Returns a compiled statement with its arguments; after use, the caller returns the statement to the cache.
    private func prepared(_ sql: String, _ arguments: [(any DatabaseValue)?]) throws(DatabaseError)
        -> OpaquePointer
    {
        trace?(sql)
        let statement = if let kept = cache.take(sql) { kept } else { try compiled(sql) }
        do throws(DatabaseError) {
            guard !isReading || sqlite3_stmt_readonly(statement) != 0 else {
                throw DatabaseError(SQLITE_READONLY)
            }
            guard sqlite3_bind_parameter_count(statement) == arguments.count else {
                throw DatabaseError(
                    SQLITE_MISUSE,
                    "\(arguments.count) arguments for a statement of other parameters"
                )
            }
            for (index, argument) in arguments.enumerated() {
                // A parameter that is not set is NULL.
                guard let argument else { continue }
                try check(argument.bind(to: statement, at: Int32(index + 1)))
            }
        } catch {
            cache.keep(statement, sql)
            throw error
        }
        return statement
    }

    private func compiled(_ sql: String) throws(DatabaseError) -> OpaquePointer {
        var statement: OpaquePointer?
        var isWhole = false
        var sql = sql
        let code = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                var rest: UnsafePointer<CChar>?
                let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
                let code = sqlite3_prepare_v3(
                    connection,
                    text.baseAddress,
                    Int32(text.count),
                    flags,
                    &statement,
                    &rest
                )
                if let rest, let start = text.baseAddress { isWhole = start + text.count == rest }
                return code
            }
        }
        try check(code)
        guard isWhole, let statement else {
            sqlite3_finalize(statement)
            throw DatabaseError(SQLITE_MISUSE, "not one statement")
        }
        return statement
    }

    /// Runs a statement up to its next row, and returns whether there is one.
    private func step(_ statement: OpaquePointer) throws(DatabaseError) -> Bool {
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw DatabaseError(code, of: connection) }
        return code == SQLITE_ROW
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw DatabaseError(code, of: connection) }
    }

    // MARK: - Transactions

    /// Runs `body` in a transaction during which no other connection writes, and commits if it succeeds.
    ///
    /// A failure or an error rolls everything back.
    package func transaction<Value, Failure: Error>(
        _ body: (Database) throws -> Result<Value, Failure>
    ) throws -> Result<Value, Failure> {
        try execute(sql: "BEGIN IMMEDIATE")
        defer { rollBack() }
        let result = try body(self)
        if case .success = result { try execute(sql: "COMMIT") }
        return result
    }

    /// Runs `body` in a transaction during which no other connection writes; an error rolls everything back.
    package func transaction(_ body: (Database) throws -> Void) throws {
        let result = try transaction { db -> Result<Void, Never> in .success(try body(db)) }
        result.get()
    }

    /// Runs `body`, which sees one state of the database and cannot change it.
    package func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try execute(sql: "BEGIN DEFERRED")
        isReading = true
        defer {
            isReading = false
            rollBack()
        }
        return try body(self)
    }

    /// Rolls back the transaction, unless it has already ended; SQLite itself ends it if the disk is full.
    private func rollBack() {
        guard sqlite3_get_autocommit(connection) == 0 else { return }
        // If the rollback fails, the next statement reports the error.
        try? execute(sql: "ROLLBACK")
    }
}
