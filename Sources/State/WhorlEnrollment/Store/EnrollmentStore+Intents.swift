// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
import WhorlService

/// An unfinished enrollment or removal on a reader that stores prints.
struct UnfinishedPrint: Sendable {
    enum Kind: Sendable {
        /// An unfinished enrollment, with `nil` if its intent cannot be read.
        case pending(Intent?)
        /// An unfinished removal, with `nil` if the template cannot be read.
        case removing(Template?)
    }

    let row: PrintRow
    let kind: Kind
}

extension EnrollmentStore {
    /// Records the start of an enrollment on a reader that stores prints.
    func beginIntent(
        _ id: PrintID,
        _ finger: Finger,
        profile: String,
        on reader: ReaderInfo,
        besides kept: [Template]?,
        at date: Date
    ) async throws(ServiceError) -> PrintRow {
        let empty = PrintRow(
            id: id,
            profile: profile,
            finger: finger,
            reader: reader.id,
            readerName: reader.name,
            storage: reader.storage,
            templateDigest: Data(),
            enrolledAt: date.timeIntervalSince1970,
            state: .pending
        )
        let seal = templateSeal
        let keys = database.keys
        return try await database.write { db in
            var row = empty
            row.sealed = try seal.seal(Intent.besides(kept), for: row)
            // The row needs its profile; a new one starts with an empty set of generation 0.
            if try Manifest.Head(db, profile: profile) == .none {
                try Manifest(profile: profile, head: .none, prints: [])
                    .save(db, keys: keys, at: date, isCounted: false)
            }
            try row.insert(db)
            return row
        }
    }

    /// Records the print that still has to be deleted from the reader after deleting it failed.
    func narrowIntent(_ row: PrintRow, to template: Template) async throws(ServiceError) {
        let seal = templateSeal
        try await database.write { db in
            try db.execute(
                sql: "UPDATE prints SET template = ? WHERE id = ? AND state = 'pending'",
                arguments: [try seal.seal(Intent.exactly(template), for: row), row.id.description]
            )
        }
    }

    /// Deletes the record of an enrollment that did not leave anything in the reader.
    func dropIntent(_ id: PrintID) async throws(ServiceError) {
        try await delete(id, .pending)
    }

    /// Deletes the record of a print that the reader has deleted.
    func finishRemoval(_ id: PrintID) async throws(ServiceError) {
        try await delete(id, .removing)
    }

    private func delete(_ id: PrintID, _ state: PrintRow.State) async throws(ServiceError) {
        try await database.write { db in
            try db.execute(
                sql: "DELETE FROM prints WHERE id = ? AND state = ?",
                arguments: [id.description, state.rawValue]
            )
        }
    }

    /// Returns whether the enrollment with this identity is still pending.
    func isPending(_ id: PrintID) async throws(ServiceError) -> Bool {
        try await database.read { db in
            try db.value(
                sql: "SELECT count(*) > 0 FROM prints WHERE id = ? AND state = 'pending'",
                arguments: [id.description]
            ) ?? false
        }
    }

    /// Returns all profiles' unfinished enrollments and removals on a reader.
    ///
    /// The caller must have a turn at the reader.
    func unfinished(on reader: ReaderID) async throws(ServiceError) -> [UnfinishedPrint] {
        let rows = try await rows(on: reader, "state <> 'enrolled'")
        let seal = templateSeal
        return rows.compactMap { row in
            guard let row else { return nil }
            let kind: UnfinishedPrint.Kind =
                row.state == .pending ? .pending(seal.openIntent(row)) : .removing(seal.open(row))
            return UnfinishedPrint(row: row, kind: kind)
        }
    }

    /// Returns the prints of all profiles in the database that a reader stores.
    ///
    /// Parts that cannot be read are `nil`.
    func kept(by reader: ReaderID) async throws(ServiceError) -> [(row: PrintRow?, template: Template?)] {
        let seal = templateSeal
        return try await rows(on: reader, "state <> 'pending'").map { ($0, $0.flatMap(seal.open)) }
    }

    private func rows(
        on reader: ReaderID,
        _ condition: String
    ) async throws(ServiceError) -> [PrintRow?] {
        try await database.read { db in
            try db.all(
                sql: "SELECT \(PrintRow.columns) FROM prints WHERE reader = ? AND \(condition) ORDER BY id",
                arguments: [reader.rawValue]
            ) { PrintRow($0) }
        }
    }
}
