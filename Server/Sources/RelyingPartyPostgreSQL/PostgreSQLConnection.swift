// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation
internal import Glibc

/// A libpq connection; it belongs to one thread, which it blocks for a limited time.
struct PostgreSQLConnection: ~Copyable {
    /// The timeout for connecting, and for a statement, in seconds.
    static let patience = 5

    private let handle: OpaquePointer
    /// The statements prepared for this connection, by their text.
    private var prepared: [String: String] = [:]
    /// Whether a transaction is open, which the server rolls back if the connection is lost.
    private var isInTransaction = false
    private let patience: Int
    /// The deadline for all statements together; `nil` if each statement has a separate timeout.
    private var end: ContinuousClock.Instant?

    /// Connects.
    ///
    /// The URL can override every setting except the encoding and the statement timeout. The C function is
    /// `PQconnectdbParams`; the result is freed by `PQfinish` even if it failed.
    static func open(
        url: String,
        patience: Int = patience
    ) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        // The URL overrides earlier options with the same name.
        let options =
            PostgreSQLURL.defaults(of: url) + [
                ("fallback_application_name", "whorl-login"),
                ("connect_timeout", String(patience)),
                // Detects within seconds that a host has silently disappeared.
                ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
                ("tcp_user_timeout", "10000"),
                // A standby accepts no changes: with several hosts, the primary is used, even after a failover.
                ("target_session_attrs", "read-write"),
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
        let connection = PostgreSQLConnection(owning: handle, patience: patience)
        guard PQstatus(handle) == CONNECTION_OK else {
            let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            // libpq's error contains an unreadable URL, including its password.
            let isReadable = PostgreSQLURL.isReadable(url)
            throw PostgreSQLFailure(state: "", text: isReadable ? text : "the URL cannot be read")
        }
        try connection.run(
            "SET statement_timeout = '\(patience)s'; SET idle_in_transaction_session_timeout = '\(patience)s'",
            lasts: false
        )
        return connection
    }

    private init(owning handle: OpaquePointer, patience: Int) {
        self.handle = handle
        self.patience = patience
        // Data is buffered in memory if the server does not read, so that sending does not block.
        PQsetnonblocking(handle, 1)
        // Otherwise libpq prints notices.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    /// Whether the connection is usable: no transaction is open, no statement is running, and the server has sent
    /// nothing, which it does on its own only when it shuts down.
    var isReady: Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return PQtransactionStatus(handle) == PQTRANS_IDLE && poll(&socket, 1, 0) == 0
    }

    /// Sets a combined timeout of `seconds` for all following statements.
    mutating func mayTake(_ seconds: Int) { end = Self.end(after: seconds) }

    /// Returns a deadline one second after the server's, which ends a statement without making the connection unusable.
    private static func end(after seconds: Int) -> ContinuousClock.Instant { .now + .seconds(seconds + 1) }

    /// Runs statements without parameters.
    ///
    /// The C function is `PQsendQuery`.
    func run(_ sql: String) throws(PostgreSQLFailure) { try run(sql, lasts: !isInTransaction) }

    private func run(_ sql: String, lasts: Bool) throws(PostgreSQLFailure) {
        _ = try answer(lasts: lasts) { PQsendQuery(handle, sql) }
    }

    /// Runs a statement, which is prepared once per connection.
    ///
    /// The C functions are `PQsendPrepare` and `PQsendQueryPrepared`; values are passed separately from the statement,
    /// all in binary format.
    mutating func run(
        _ sql: String,
        _ values: [PostgreSQLValue]
    ) throws(PostgreSQLFailure) -> PostgreSQLRows {
        let name = try prepare(sql, values)
        let bytes = values.map(\.bytes)
        // Each value is copied once to memory that does not move during the call.
        let copies = bytes.map { bytes in
            bytes.map { bytes in
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, bytes.count))
                for (index, byte) in bytes.enumerated() { copy[index] = CChar(truncatingIfNeeded: byte) }
                return copy
            }
        }
        defer { for copy in copies { copy?.deallocate() } }
        return try answer(lasts: !isInTransaction) {
            PQsendQueryPrepared(
                handle,
                name,
                Int32(values.count),
                copies.map { UnsafePointer($0) },
                bytes.map { Int32($0?.count ?? 0) },
                [Int32](repeating: 1, count: values.count),
                1
            )
        }
    }

    private mutating func prepare(
        _ sql: String,
        _ values: [PostgreSQLValue]
    ) throws(PostgreSQLFailure) -> String {
        if let name = prepared[sql] { return name }
        let name = "s\(prepared.count)"
        let types = values.map(\.type)
        _ = try answer(lasts: false) { PQsendPrepare(handle, name, sql, Int32(types.count), types) }
        prepared[sql] = name
        return name
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws.
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
            // If this fails as well, the connection is not used again, and the server rolls back.
            try? run("ROLLBACK", lasts: false)
            throw error
        }
    }
}

extension PostgreSQLConnection {
    /// Sends a request and waits for the last reply.
    ///
    /// If the reply to a lasting change is lost, it is unknown whether the change was made.
    private func answer(
        lasts: Bool,
        to send: () -> Int32
    ) throws(PostgreSQLFailure) -> PostgreSQLRows {
        let end = end ?? Self.end(after: patience)
        var last: OpaquePointer?
        do throws(PostgreSQLFailure) {
            guard send() == 1 else { throw .lost }
            while let result = try next(by: end) {
                PQclear(last)
                last = result
            }
        } catch {
            PQclear(last)
            throw error.undecided(lasts)
        }
        do throws(PostgreSQLFailure) {
            return try PostgreSQLRows(owning: last, on: handle)
        } catch {
            throw error.undecided(lasts)
        }
    }

    /// Returns the next result of the request; `nil` if there is none left.
    ///
    /// The C functions are `PQflush`, `PQisBusy`, `PQconsumeInput` and `PQgetResult`, which does not block here.
    /// Source: PostgreSQL 15, 34.4 "Asynchronous Command Processing".
    private func next(by end: ContinuousClock.Instant) throws(PostgreSQLFailure) -> OpaquePointer? {
        while true {
            let isUnsent = PQflush(handle) == 1
            if !isUnsent, PQisBusy(handle) == 0 { return PQgetResult(handle) }
            try wait(for: isUnsent ? POLLIN | POLLOUT : POLLIN, until: end)
            guard PQconsumeInput(handle) == 1 else { throw .lost }
        }
    }

    /// Waits for the socket; a reply that arrived in time is accepted, even if the thread checks late.
    private func wait(
        for events: Int32,
        until end: ContinuousClock.Instant
    ) throws(PostgreSQLFailure) {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        guard socket.fd >= 0 else { throw .lost }
        while true {
            let left = max(.zero, end - .now)
            switch poll(&socket, 1, Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))) {
            case 1...: return
            case 0 where left > .zero: continue
            case 0: throw .late
            default: guard errno == EINTR else { throw .lost }
            }
        }
    }
}

extension PostgreSQLFailure {
    fileprivate static var lost: Self { Self(state: "", text: "the connection was lost", isLost: true) }
    fileprivate static var late: Self {
        Self(state: "", text: "the server did not answer in time", isLost: true, isLate: true)
    }

    /// Returns the same error, marked as undecided if the change is lasting.
    fileprivate func undecided(_ lasts: Bool) -> Self {
        var failure = self
        failure.isUndecided = isLost && lasts
        return failure
    }
}
