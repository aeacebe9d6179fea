// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation
internal import Glibc

/// One connection of libpq; it belongs to one thread, which it blocks.
struct PostgreSQLConnection: ~Copyable {
    /// How long a try to connect, and a statement, may take, in seconds.
    static let patience = 5

    private let handle: OpaquePointer
    /// The statements that the server has prepared for this connection, by their text.
    private var prepared: [String: String] = [:]
    /// Whether a transaction is open, which the server undoes where the connection is lost.
    private var isInTransaction = false

    /// Connects.
    ///
    /// The URL may say otherwise about everything but the encoding and the time that a statement may take. The C
    /// function is `PQconnectdbParams`; the result is freed by `PQfinish` also where it failed.
    static func open(
        url: String,
        patience: Int = patience
    ) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        let options = [
            ("fallback_application_name", "whorl-login"),
            ("connect_timeout", String(patience)),
            // A host that is gone without a word is noticed after some seconds.
            ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
            ("dbname", url),
            ("client_encoding", "UTF8"),
        ]
        let keywords = options.map { strdup($0.0) }
        let values = options.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        let handle = PQconnectdbParams(
            keywords.map { UnsafePointer($0) } + [nil],
            values.map { UnsafePointer($0) } + [nil],
            1
        )
        guard let handle else { throw PostgreSQLFailure(state: "", text: "out of memory") }
        let connection = PostgreSQLConnection(owning: handle)
        guard PQstatus(handle) == CONNECTION_OK else {
            let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            // A URL that cannot be read is quoted, with its password.
            let isReadable = PostgreSQLURL.isReadable(url)
            throw PostgreSQLFailure(state: "", text: isReadable ? text : "the URL cannot be read")
        }
        try connection.run("SET statement_timeout = '\(patience)s'", lasts: false)
        try connection.run("SET idle_in_transaction_session_timeout = '\(patience)s'", lasts: false)
        return connection
    }

    private init(owning handle: OpaquePointer) {
        self.handle = handle
        // libpq prints notices otherwise.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    /// Whether there is nothing to be read while nothing was asked: a server that says something then is leaving, or
    /// gone.
    var isSilent: Bool {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 0
    }

    /// Runs statements that have no parameters.
    ///
    /// The C function is `PQexec`.
    func run(_ sql: String) throws(PostgreSQLFailure) { try run(sql, lasts: !isInTransaction) }

    private func run(_ sql: String, lasts: Bool) throws(PostgreSQLFailure) {
        _ = try rows(PQexec(handle, sql), lasts: lasts)
    }

    /// Runs a statement, which is prepared once for this connection.
    ///
    /// The C functions are `PQprepare` and `PQexecPrepared`; values go beside the statement, and all in binary form.
    mutating func run(
        _ sql: String,
        _ values: [PostgreSQLValue]
    ) throws(PostgreSQLFailure) -> PostgreSQLRows {
        let name = try prepare(sql, values)
        let bytes = values.map(\.bytes)
        // Each value is copied once into memory that stays where it is for the call.
        let copies = bytes.map { bytes in
            bytes.map { bytes in
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, bytes.count))
                for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
                return copy
            }
        }
        defer { for copy in copies { copy?.deallocate() } }
        let result = PQexecPrepared(
            handle,
            name,
            Int32(values.count),
            copies.map { UnsafePointer($0) },
            bytes.map { Int32($0?.count ?? 0) },
            [Int32](repeating: 1, count: values.count),
            1
        )
        return try rows(result, lasts: !isInTransaction)
    }

    private mutating func prepare(
        _ sql: String,
        _ values: [PostgreSQLValue]
    ) throws(PostgreSQLFailure) -> String {
        if let name = prepared[sql] { return name }
        let name = "s\(prepared.count)"
        let types = values.map(\.type)
        _ = try rows(PQprepare(handle, name, sql, Int32(types.count), types), lasts: false)
        prepared[sql] = name
        return name
    }

    /// What the server answered; where the answer to what lasts is lost, nobody knows whether it was done.
    private func rows(_ result: OpaquePointer?, lasts: Bool) throws(PostgreSQLFailure) -> PostgreSQLRows {
        do throws(PostgreSQLFailure) {
            return try PostgreSQLRows(owning: result, on: handle)
        } catch {
            var failure = error
            failure.isUndecided = error.isLost && lasts
            throw failure
        }
    }

    /// Runs `body` in a transaction, which is rolled back where it throws.
    mutating func transaction<Value>(
        _ body: (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value {
        try run("BEGIN", lasts: false)
        isInTransaction = true
        defer { isInTransaction = false }
        do throws(PostgreSQLFailure) {
            let value = try body(&self)
            try run("COMMIT", lasts: true)
            return value
        } catch {
            // Where this fails too, the connection is lost, and the server has rolled back.
            try? run("ROLLBACK", lasts: false)
            throw error
        }
    }
}

/// Whether libpq can read a URL; what it says about one that it cannot quotes it.
enum PostgreSQLURL {
    /// The C function is `PQconninfoParse`.
    static func isReadable(_ url: String) -> Bool {
        guard let options = PQconninfoParse(url, nil) else { return false }
        PQconninfoFree(options)
        return true
    }
}
