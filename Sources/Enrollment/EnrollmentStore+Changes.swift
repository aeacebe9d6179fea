// SPDX-License-Identifier: Apache-2.0

package import Fingerprint
package import Foundation
import GRDB
import StateStore

extension EnrollmentStore {
    /// Adds one print to the set: row, generation, history and MAC in one transaction.
    ///
    /// - Parameters:
    ///   - template: What the reader made.
    ///   - finger: Which finger it is.
    ///   - label: The person's own words; they are cleaned.
    ///   - profile: Whose finger.
    ///   - reader: The reader that made it.
    ///   - id: The print's identity; an intent of the same identity is replaced.
    ///   - date: When it was enrolled.
    /// - Returns: The finger as it is stored.
    /// - Throws: `fingerExists`, `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    package func add(
        _ template: Template,
        as finger: Finger,
        label: String?,
        profile: String,
        on reader: ReaderInfo,
        id: PrintID = PrintID(),
        at date: Date
    ) async throws(EnrollmentError) -> EnrolledFinger {
        var row = PrintRow(
            id: id,
            profile: profile,
            finger: finger,
            label: FingerLabel.clean(label),
            reader: reader.id,
            readerName: reader.name,
            storage: reader.storage,
            sealed: nil,
            templateDigest: TemplateSeal.digest(of: template),
            enrolledAt: date.timeIntervalSince1970,
            lastMatchedAt: nil,
            state: .enrolled
        )
        do {
            row.sealed = try templateSeal.seal(template, for: row)
        } catch {
            throw EnrollmentError(
                .store(StateError(.failed, path: database.directory.path, cause: "\(error)"))
            )
        }
        let complete = row
        return try await change(profile, at: date) { db, prints in
            if prints.contains(where: { $0.finger == finger && $0.reader == reader.id }) {
                return .failure(EnrollmentError(.fingerExists(finger)))
            }
            try db.execute(
                sql: "DELETE FROM prints WHERE id = ? AND state = 'pending'",
                arguments: [id.description]
            )
            try complete.insert(db)
            return .success(Change(prints: prints + [complete], value: complete.enrolledFinger))
        }
    }

    /// Takes prints out of the set, in one transaction.
    ///
    /// Those that a reader keeps stay as `removing`, until ``finishRemoval(_:)``.
    ///
    /// - Returns: The rows that were taken out.
    /// - Throws: `noSuchFinger` when none was meant; `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    func beginRemoval(
        of profile: String,
        where isMeant: @escaping @Sendable (PrintRow) -> Bool
    ) async throws(EnrollmentError) -> [PrintRow] {
        try await change(profile, at: Date()) { db, prints in
            let meant = prints.filter(isMeant)
            guard !meant.isEmpty else { return .failure(EnrollmentError(.noSuchFinger)) }
            for row in meant { try row.leaveSet(db) }
            return .success(Change(prints: prints.filter { !isMeant($0) }, value: meant))
        }
    }

    /// Takes every print out of the set, whether the set is sound or not, and makes it sound again.
    ///
    /// The generation goes on from the highest that is known, so that no earlier digest comes back; where that is used
    /// up, an epoch begins (``successor(of:after:)``).
    ///
    /// - Returns: The rows that were taken out, as far as they could be read.
    /// - Throws: `store`, and what the counter gives.
    func beginRemovalOfAll(of profile: String) async throws(EnrollmentError) -> [PrintRow] {
        let (head, known) = try await read { db in
            (
                try Manifest.Head(db, profile: profile),
                try Int64.fetchOne(
                    db,
                    sql: "SELECT max(generation) FROM enrollment_history WHERE profile = ?",
                    arguments: [profile]
                )
            )
        }
        let highest = max(head.generation, UInt64(clamping: known ?? 0))
        let restarted = try await generations.restart(profile, stored: highest)
        let next = try await successor(of: profile, after: restarted, in: head.epoch)
        let isCounted = try await generations.hasCounter(profile)
        let keys = database.keys
        let removed = try await write { db in
            let rows = try Manifest(db, profile: profile).prints
            for row in rows { try row.leaveSet(db) }
            // Rows that cannot be read, or that this program never leaves so, are not anybody's finger.
            try db.execute(
                sql: "DELETE FROM prints WHERE profile = ? AND (state = 'enrolled' OR storage = 'host')",
                arguments: [profile]
            )
            try Manifest(profile: profile, head: next, prints: [])
                .save(db, keys: keys, at: Date(), isCounted: isCounted)
            return rows
        }
        try await generations.advance(profile, to: next.generation)
        return removed
    }
}

extension PrintRow {
    /// The row as it is while the reader still keeps the print; a print that the host keeps is gone at once.
    fileprivate func leaveSet(_ db: Database) throws {
        let sql =
            isOnReader
            ? "UPDATE prints SET state = 'removing' WHERE id = ?"
            : "DELETE FROM prints WHERE id = ?"
        try db.execute(sql: sql, arguments: [id.description])
    }
}
