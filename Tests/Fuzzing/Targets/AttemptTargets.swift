// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlSecretMemory

@testable import WhorlEngine
@testable import WhorlStateStore
import WhorlService

extension FuzzTarget {
    static let attemptTargets: [FuzzTarget] = [
        FuzzTarget(name: "attempt-row", longestInput: 512, check: attemptRow),
        FuzzTarget(name: "reuse-record", longestInput: 512, check: reuseRecord),
        FuzzTarget(name: "audit-row", longestInput: 2048, check: auditRow),
    ]

    /// No row gives more tries than a fresh one, and a lock that is stored is the same lock when it is read.
    private static func attemptRow(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let values = (0..<7).map { _ in input.databaseValue() }
        let stored: AttemptRecord?
        do {
            stored = try Tables.shared.record(in: ["ada", "real"] as [(any DatabaseValue)?] + values)
        } catch {
            return  // refused as damaged
        }
        guard var record = stored else { return }
        // The row may hold anything; the machine's own clocks show what clocks can, up to some 280 years.
        let now = Moment(
            bootID: "boot-\(input.byte())",
            sinceBoot: input.number() & (1 << 43 - 1),
            wall: input.number() & (1 << 43 - 1)
        )
        var tries = 0
        while record.reserve(at: now, endsByTime: false) == .open {
            tries += 1
            try promise(
                tries <= AttemptRecord.limit,
                "\(values) gives more than \(AttemptRecord.limit) tries"
            )
            record.charge(at: now)
        }
        let lock = record.lock(at: now, endsByTime: true)
        let again = try? Tables.shared.record(storing: record)
        try promise(
            again?.lock(at: now, endsByTime: true) == lock,
            "\(record) becomes \(String(describing: again))"
        )
    }

    /// A match is taken from the bytes that it is written as, and from no others.
    private static func reuseRecord(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let isSigned = input.flag()
        let forged = isSigned ? nil : Data(input.bytes())
        let payload = Data(input.remainder())
        let mac = forged ?? Tables.keys.code(for: payload, .reuse)
        guard let (match, written) = Tables.shared.match(payload: payload, mac: mac) else { return }
        try promise(isSigned, "\(match) was never signed")
        try promise(written == payload, "\(match) is written as other bytes")
    }

    /// What a line of the log shows of a program's words acts on no terminal.
    private static func auditRow(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let values = (0..<11).map { _ in input.databaseValue() }
        guard let entry = try? Tables.shared.first(values, AuditLog.entry) else { return }
        let asker = entry.asker
        for text in [
            entry.application, entry.detail ?? "", asker?.process ?? "", asker?.confinedAs ?? "",
            asker?.unit ?? "", asker?.session ?? "",
        ] {
            try promise(
                text.unicodeScalars.allSatisfy(isHarmless),
                "\(text.debugDescription) acts on a terminal"
            )
            try promise(text.count <= 200, "\(text.count) characters")
        }
    }
}

/// The tables in memory, without the types and checks of their definition: what lies on the disk need not keep them.
private struct Tables: Sendable {
    static let keys = StateKeys(stateKey: SecretBytes(count: 32) { $0.copyBytes(from: UInt8(0)..<32) })
    static let shared = Tables()

    private let queue: DatabaseQueue

    private init() {
        do {
            queue = try DatabaseQueue(path: ":memory:", busyTimeout: 0)
            try queue.access { db in
                try db.execute(
                    script: """
                        CREATE TABLE attempts (profile, reader_class, failures, pending, total_failures, lockouts,
                            locked_until_boot, locked_until_wall, boot_id, PRIMARY KEY (profile, reader_class));
                        CREATE TABLE reuse (profile PRIMARY KEY, payload, mac);
                        """
                )
            }
        } catch {
            preconditionFailure("a database in memory: \(error)")
        }
    }

    /// What is read of a row that holds these values.
    func record(in values: [(any DatabaseValue)?]) throws -> AttemptRecord {
        try queue.access { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: values
            )
            return try AttemptLedger(profile: "ada", readers: .real).record(in: db)
        }
    }

    /// What is read of a record that was stored.
    func record(storing record: AttemptRecord) throws -> AttemptRecord {
        try queue.access { db in
            let ledger = AttemptLedger(profile: "eve", readers: .real)
            try ledger.save(record, in: db)
            return try ledger.record(in: db)
        }
    }

    /// The match in a row, and the payload that it is written as.
    func match(payload: Data, mac: Data) -> (ReusableMatch, Data?)? {
        try? queue.access { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO reuse VALUES ('ada', ?, ?)",
                arguments: [payload, mac]
            )
            let window = ReuseWindow(keys: Tables.keys)
            guard let match = try window.match(of: "ada", in: db) else { return nil }
            try window.remember(match, in: db)
            let sql = "SELECT payload FROM reuse WHERE profile = ?"
            return (match, try db.value(sql: sql, arguments: [match.profile]) as Data?)
        }
    }

    /// What becomes of the values as a row that a statement gave.
    func first<Value>(
        _ values: [(any DatabaseValue)?],
        _ body: (borrowing Row) throws -> Value
    ) throws -> Value? {
        try queue.access { db in
            let marks = values.map { _ in "?" }.joined(separator: ", ")
            return try db.first(sql: "SELECT \(marks)", arguments: values, body)
        }
    }
}
