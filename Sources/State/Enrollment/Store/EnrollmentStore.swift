// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
public import Foundation
import GRDB
public import StateStore

/// Whose fingers are enrolled, and the digest of their set.
///
/// Everything that it gives was checked first, against the manifest's MAC and by opening every template: rows that
/// were changed from outside are ``EnrollmentError/Code/enrollmentTampered``, never a finger.
public final class EnrollmentStore: Sendable {
    package let database: StateDatabase
    let generations: any GenerationCounter

    /// Works on a database.
    public init(database: StateDatabase, generations: any GenerationCounter = SoftwareGeneration()) {
        self.database = database
        self.generations = generations
    }

    /// The enrolled fingers of a profile, by finger and then by reader.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    public func fingers(of profile: String) async throws(EnrollmentError) -> [EnrolledFinger] {
        try await snapshot(of: profile).fingers
    }

    /// The templates that a reader can compare with, the most recently matched first, then the newest.
    ///
    /// - Throws: as ``fingers(of:)``.
    public func gallery(
        of profile: String,
        on reader: ReaderID
    ) async throws(EnrollmentError) -> [GalleryEntry] {
        try await snapshot(of: profile).gallery(on: reader)
    }

    /// One enrolled finger of a profile; `nil` when there is none of this identity.
    ///
    /// - Throws: as ``fingers(of:)``.
    public func finger(_ id: PrintID, of profile: String) async throws(EnrollmentError) -> EnrolledFinger? {
        try await snapshot(of: profile).manifest.prints.first { $0.id == id }?.enrolledFinger
    }

    /// Whether a print is enrolled, as the database has it: neither the set's MAC nor the counter is looked at.
    ///
    /// - Throws: `store`.
    package func isEnrolled(_ id: PrintID, of profile: String) async throws(EnrollmentError) -> Bool {
        try await read { db in
            try PrintRow.enrolled(id, db)?.profile == profile
        }
    }

    /// How often the set has changed, as the database has it: neither the set's MAC nor the counter is looked at.
    ///
    /// - Throws: `store`.
    package func recordedGeneration(of profile: String) async throws(EnrollmentError) -> UInt64 {
        try await read { try Manifest.Head($0, profile: profile).generation }
    }

    /// What a program compares; `nil` when no finger is enrolled.
    ///
    /// - Parameters:
    ///   - profile: Whose fingers.
    ///   - application: The name of the program.
    /// - Returns: The digest and the generation.
    /// - Throws: as ``fingers(of:)``.
    public func state(
        of profile: String,
        application: String
    ) async throws(EnrollmentError) -> EnrollmentState? {
        try await snapshot(of: profile).state(for: application)
    }

    /// What has changed since `digest`, which ``state(of:application:)`` gave for the same program.
    ///
    /// - Parameters:
    ///   - profile: Whose fingers.
    ///   - application: The name of the program.
    ///   - digest: 32 bytes; anything else is unknown.
    /// - Returns: What came and what went, and whether the digest was ours.
    /// - Throws: as ``fingers(of:)``.
    public func difference(
        of profile: String,
        application: String,
        since digest: Data
    ) async throws(EnrollmentError) -> EnrollmentDifference {
        let now = try await snapshot(of: profile).manifest
        let history = try await read { db in
            try Data.fetchAll(
                db,
                sql: "SELECT encoding FROM enrollment_history WHERE profile = ? ORDER BY generation DESC",
                arguments: [profile]
            )
        }
        let keys = database.keys
        // The digest authenticates the entry: a forged one has no digest that was ever given out.
        let found = history.first {
            EnrollmentSet.digest(of: $0, application: application, keys: keys) == digest
        }
        guard let then = found.flatMap(EnrollmentSet.init(encoded:)) else {
            return EnrollmentDifference(changed: true, added: [], removed: [], isKnown: false)
        }
        return EnrollmentDifference(from: then, to: now.set)
    }

    /// Remembers when a print matched.
    ///
    /// The digest does not change. It is lost when the power fails within seconds; nothing depends on it. A print that was
    /// removed meanwhile is ignored.
    ///
    /// - Throws: `store`.
    public func recordMatch(_ id: PrintID, at date: Date) async throws(EnrollmentError) {
        try await recordMatch(id, updated: nil, at: date)
    }

    /// The same, with the better template where the reader made one.
    ///
    /// For the engine alone, after a match: the template takes the place of the one that its owner agreed to.
    ///
    /// - Throws: `store`.
    package func recordMatch(
        _ id: PrintID,
        updated: Template?,
        at date: Date
    ) async throws(EnrollmentError) {
        let seal = templateSeal
        try await write(.relaxed) { db in
            try db.execute(
                sql: "UPDATE prints SET last_matched_at = ? WHERE id = ? AND state = 'enrolled'",
                arguments: [date.timeIntervalSince1970, id.description]
            )
            // A row whose template was changed from outside must not become sound again by being sealed anew.
            guard let updated, let row = try PrintRow.enrolled(id, db), seal.opens(row) else { return }
            try db.execute(
                sql: "UPDATE prints SET template = ? WHERE id = ?",
                arguments: [try seal.seal(updated, for: row), id.description]
            )
        }
    }

    /// Gives a finger another label, or none.
    ///
    /// The digest does not change.
    ///
    /// - Parameters:
    ///   - id: Which print.
    ///   - profile: Whose print.
    ///   - label: Free text; control characters are dropped, and only 100 characters are kept.
    /// - Throws: `noSuchFinger`, `store`.
    public func rename(
        _ id: PrintID,
        of profile: String,
        label: String?
    ) async throws(EnrollmentError) {
        let label = FingerLabel.clean(label)
        let changed = try await write { db in
            try db.execute(
                sql: "UPDATE prints SET label = ? WHERE id = ? AND profile = ? AND state = 'enrolled'",
                arguments: [label, id.description, profile]
            )
            return db.changesCount
        }
        if changed == 0 { throw EnrollmentError(.noSuchFinger) }
    }

    var templateSeal: TemplateSeal { TemplateSeal(keys: database.keys) }
}

extension PrintRow {
    /// The enrolled print of this identity.
    static func enrolled(_ id: PrintID, _ db: Database) throws -> PrintRow? {
        try Row.fetchOne(
            db,
            sql: "SELECT \(PrintRow.columns) FROM prints WHERE id = ? AND state = 'enrolled'",
            arguments: [id.description]
        ).flatMap(PrintRow.init)
    }
}

extension EnrollmentDifference {
    init(from old: EnrollmentSet, to new: EnrollmentSet) {
        let before = Set(old.members)
        let after = Set(new.members)
        self.init(
            changed: old != new,
            added: after.subtracting(before).map(\.finger).sorted { $0.number < $1.number },
            removed: before.subtracting(after).map(\.finger).sorted { $0.number < $1.number },
            isKnown: true
        )
    }
}
