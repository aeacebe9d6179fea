// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlSecretMemory

@testable import WhorlEnrollment
@testable import WhorlStateStore

extension FuzzTarget {
    static let enrollmentTargets: [FuzzTarget] = [
        FuzzTarget(name: "enrollment-set", longestInput: 1024, check: enrollmentSet),
        FuzzTarget(name: "intent", longestInput: 512, check: intent),
        FuzzTarget(name: "sealed-template", longestInput: 1024, check: sealedTemplate),
        FuzzTarget(name: "manifest", longestInput: 1024, check: manifest),
    ]

    /// Only canonical bytes are read: one set, one encoding.
    private static func enrollmentSet(_ input: [UInt8]) throws(BrokenPromise) {
        guard let set = EnrollmentSet(encoded: Data(input)) else { return }
        try promise(set.encoded == Data(input), "\(set) is written as other bytes")
    }

    /// The same for what an enrollment on a reader with storage had in mind.
    private static func intent(_ input: [UInt8]) throws(BrokenPromise) {
        guard let intent = Intent(encoded: Data(input)) else { return }
        try promise(intent.encoded == Data(input), "an intent is written as other bytes")
    }

    /// A template opens only in the row, and with the bytes, that it was sealed in.
    private static func sealedTemplate(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        var row = Known.print
        if input.flag() { row = Known.changed(row, by: &input) }
        row.sealed = input.isAtEnd ? Known.print.sealed : Data(input.remainder())
        guard let template = Known.seal.open(row) else { return }
        let isKnown = row.sealed == Known.print.sealed
        try promise(isKnown, "another ciphertext was opened")
        try promise(template == Known.template, "the template is another one")
        try promise(
            Known.seal.context(row, "") == Known.seal.context(Known.print, ""),
            "another row opens the template"
        )
    }

    /// Rows are authentic only if they say what was signed, whatever else they hold.
    private static func manifest(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let isOwn = input.flag()
        let columns = Known.columns.map { name, value in
            (name, input.flag() ? input.databaseValue() : value as (any DatabaseValue)?)
        }
        let row: PrintRow?
        do {
            row = try Known.row(columns)
        } catch {
            throw BrokenPromise("the test's own row: \(error)")
        }
        let found = Manifest(
            profile: input.flag() ? input.text() : Known.print.profile,
            head: Manifest.Head(
                generation: input.flag() ? UInt64(bitPattern: input.number()) : Known.manifest.generation,
                epoch: input.flag() ? Data(input.bytes()) : Known.manifest.head.epoch,
                mac: isOwn ? Known.mac : Data(input.remainder())
            ),
            prints: row.map { [$0] } ?? [],
            isReadable: row != nil
        )
        guard found.isAuthentic(Known.seal) else { return }
        let print = found.prints.first
        try promise(
            found.profile == Known.manifest.profile && found.set == Known.manifest.set
                && print?.storage == Known.print.storage && print?.enrolledAt == Known.print.enrolledAt
                && print?.access == Known.print.access,
            "\(found) was never signed"
        )
    }
}

/// One print of one profile, sealed and signed with a key that everybody knows.
private enum Known {
    static let keys = StateKeys(stateKey: SecretBytes(count: 32) { $0.copyBytes(from: UInt8(0)..<32) })
    static let seal = TemplateCipher(keys: keys)
    static let template = Template(bytes: Array("a template".utf8))

    static let print: PrintRow = {
        let digest = TemplateCipher.digest(of: template)
        var row = PrintRow(
            id: id("0123456789abcdef0123456789abcdef"),
            profile: "ada",
            finger: .rightIndex,
            label: "desk",
            reader: ReaderID(rawValue: "reader-0"),
            readerName: "Reader",
            storage: .host,
            sealed: nil,
            templateDigest: digest,
            enrolledAt: 1_000.5,
            lastMatchedAt: nil,
            state: .enrolled
        )
        row.sealed = try? seal.seal(template, for: row)
        return row
    }()

    static let manifest = Manifest(
        profile: print.profile,
        head: Manifest.Head(generation: 3, epoch: Data(count: 16), mac: nil),
        prints: [print]
    )

    /// The manifest's MAC, by way of a database, as there is no other.
    static let mac: Data = {
        do {
            return try DatabaseQueue(path: ":memory:", busyTimeout: 0).access { db in
                try Schema.create(db)
                try manifest.save(db, keys: keys, at: Date(timeIntervalSince1970: 0), isCounted: false)
                return try db.value(sql: "SELECT manifest_mac FROM profiles") ?? Data()
            }
        } catch {
            preconditionFailure("a database in memory: \(error)")
        }
    }()

    /// The print as it lies in the table.
    static let columns: [(String, (any DatabaseValue & Sendable)?)] = [
        ("id", print.id.description), ("profile", print.profile), ("finger", Int64(print.finger.number)),
        ("label", print.label), ("reader", print.reader.rawValue), ("reader_name", print.readerName),
        ("storage", print.storage.rawValue), ("template", print.sealed),
        ("template_digest", print.templateDigest), ("enrolled_at", print.enrolledAt),
        ("last_matched_at", nil), ("state", print.state.rawValue), ("access", print.access.rawValue),
    ]

    private static let queue = try? DatabaseQueue(path: ":memory:", busyTimeout: 0)

    /// The print that a statement's row with these columns is read as.
    static func row(_ columns: [(String, (any DatabaseValue)?)]) throws -> PrintRow? {
        let sql = "SELECT " + columns.map { "? AS \($0.0)" }.joined(separator: ", ")
        return try queue?.access { db in
            try db.first(sql: sql, arguments: columns.map(\.1)) { PrintRow($0) }
        } ?? nil
    }

    /// The print in a row that differs as the input says.
    static func changed(_ row: PrintRow, by input: inout InputReader) -> PrintRow {
        let finger = Finger(number: input.byte())
        return PrintRow(
            id: PrintID(bytes: Data(input.bytes())) ?? row.id,
            profile: input.flag() ? input.text() : row.profile,
            finger: finger ?? row.finger,
            label: row.label,
            reader: input.flag() ? ReaderID(rawValue: input.text()) : row.reader,
            readerName: row.readerName,
            storage: row.storage,
            sealed: nil,
            templateDigest: input.flag() ? Data(input.bytes()) : row.templateDigest,
            enrolledAt: row.enrolledAt,
            lastMatchedAt: row.lastMatchedAt,
            state: row.state
        )
    }

    private static func id(_ text: String) -> PrintID {
        guard let id = PrintID(text) else { preconditionFailure("32 digits") }
        return id
    }
}

extension InputReader {
    /// A value as a changed database may hold in any column.
    mutating func databaseValue() -> (any DatabaseValue)? {
        switch byte() % 6 {
        case 0: nil
        case 1: number()
        case 2: Double(bitPattern: UInt64(bitPattern: number()))
        case 3: text()
        case 4: Data(bytes())
        default: Int64(Int8(bitPattern: byte()))
        }
    }
}
