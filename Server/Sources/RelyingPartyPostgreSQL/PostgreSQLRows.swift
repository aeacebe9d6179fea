// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Foundation

/// An error of a PostgreSQL call.
struct PostgreSQLFailure: Error {
    /// SQLSTATE, five characters; empty if libpq itself failed.
    let state: String
    /// The text for the log; it contains no values.
    let text: String
    /// Whether the connection is lost.
    var isLost = false
    /// Whether the server did not reply in time, so that another attempt would be late as well.
    var isLate = false
    /// Whether the statement may still have taken effect.
    var isUndecided = false

    /// Whether another row has the same key (SQLSTATE 23505).
    var isDuplicate: Bool { state == "23505" }
    /// Whether another transaction was in the way, so that another attempt may succeed (40001, 40P01).
    var isTransient: Bool { state == "40001" || state == "40P01" }
}

/// The result of a statement: rows of values in binary format.
struct PostgreSQLRows: ~Copyable {
    private let result: OpaquePointer

    /// Takes ownership of the result, which is freed by `PQclear`.
    ///
    /// - Throws: The server's error. Its text may contain values, so only its SQLSTATE is reported.
    init(owning result: OpaquePointer?, on connection: OpaquePointer) throws(PostgreSQLFailure) {
        let isLost = PQstatus(connection) != CONNECTION_OK
        guard let result else {
            throw PostgreSQLFailure(state: "", text: "no answer from the server", isLost: isLost)
        }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: self.result = result
        default:
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            PQclear(result)
            // The server shuts down, or has closed this connection, which libpq may not have noticed yet (57P01 to
            // 57P03, class 08). A server that has become a standby counts as lost as well, because another one accepts
            // changes (25006).
            let isLost = isLost || state.hasPrefix("57P0") || state.hasPrefix("08") || state == "25006"
            let text = isLost ? "the connection was lost" : "SQLSTATE \(state)"
            throw PostgreSQLFailure(state: state, text: text, isLost: isLost)
        }
    }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }
    /// The number of rows changed by a statement without a result.
    var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Returns the bytes of a value; `nil` for NULL and for a value that does not exist.
    func bytes(_ row: Int, _ column: Int) -> Data? {
        let (row, column) = (Int32(row), Int32(column))
        guard row < PQntuples(result), column < PQnfields(result), PQgetisnull(result, row, column) == 0,
            let value = PQgetvalue(result, row, column)
        else { return nil }
        return Data(bytes: value, count: Int(PQgetlength(result, row, column)))
    }

    /// Returns an `int8`: 8 bytes, most significant first.
    func int(_ row: Int, _ column: Int) -> Int? {
        guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
        return Int(truncatingIfNeeded: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    /// Returns a `text`, in UTF-8.
    func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).flatMap { String(bytes: $0, encoding: .utf8) }
    }

    /// Returns a `bool`: one byte.
    func bool(_ row: Int, _ column: Int) -> Bool? { bytes(row, column).map { $0 == Data([1]) } }
}

/// A value in a statement.
enum PostgreSQLValue {
    case int(Int?)
    case text(String?)
    case bytes(Data?)

    /// The object identifier of its type, from PostgreSQL's `pg_type.dat`.
    var type: Oid {
        switch self {
        case .int: 20
        case .text: 25
        case .bytes: 17
        }
    }

    /// Its binary format.
    var bytes: [UInt8]? {
        switch self {
        case .int(let value):
            value.map { value in withUnsafeBytes(of: Int64(value).bigEndian) { Array($0) } }
        case .text(let value): value.map { Array($0.utf8) }
        case .bytes(let value): value.map { Array($0) }
        }
    }
}
