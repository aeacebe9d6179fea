// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
public import Foundation
import GRDB
public import StateStore

/// Whose fingers are enrolled, and the digest of their set.
///
/// Everything that it gives was checked against the manifest's MAC first: rows that were changed from outside
/// are ``EnrollmentError/Code/enrollmentTampered``, never a finger.
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
        try await manifest(of: profile).prints.map(\.enrolledFinger)
            .sorted { ($0.finger.number, $0.reader.rawValue) < ($1.finger.number, $1.reader.rawValue) }
    }

    /// The templates that a reader can compare with, the most recently matched first, then the newest.
    ///
    /// - Throws: `enrollmentTampered`, also when a template cannot be decrypted; `enrollmentRolledBack`; `store`.
    public func gallery(
        of profile: String,
        on reader: ReaderID
    ) async throws(EnrollmentError) -> [GalleryEntry] {
        let rows = try await manifest(of: profile).prints.filter { $0.reader == reader }
        let never = -Double.infinity
        let ordered = rows.sorted {
            ($0.lastMatchedAt ?? never, $0.enrolledAt) > ($1.lastMatchedAt ?? never, $1.enrolledAt)
        }
        let seal = templateSeal
        var gallery: [GalleryEntry] = []
        for row in ordered {
            guard let template = seal.open(row) else {
                throw EnrollmentError(.enrollmentTampered, cause: "the template of print \(row.id)")
            }
            gallery.append(GalleryEntry(id: row.id, template: template))
        }
        return gallery
    }

    /// One enrolled finger of a profile; `nil` when there is none of this identity.
    ///
    /// - Throws: as ``fingers(of:)``.
    public func finger(_ id: PrintID, of profile: String) async throws(EnrollmentError) -> EnrolledFinger? {
        try await manifest(of: profile).prints.first { $0.id == id }?.enrolledFinger
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
        let manifest = try await manifest(of: profile)
        guard !manifest.prints.isEmpty else { return nil }
        let digest = manifest.set.digest(application: application, keys: database.keys)
        return EnrollmentState(digest: digest, generation: manifest.generation)
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
        let now = try await manifest(of: profile)
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

    /// Remembers a match, and the better template where the reader made one.
    ///
    /// The digest does not change.
    ///
    /// It is lost when the power fails within seconds; nothing depends on it. A print that was removed meanwhile
    /// is ignored.
    ///
    /// - Throws: `store`.
    public func recordMatch(
        _ id: PrintID,
        updated: Template?,
        at date: Date
    ) async throws(EnrollmentError) {
        let seal = templateSeal
        try await write(.relaxed) { db in
            guard let row = try PrintRow.enrolled(id, db) else { return }
            try db.execute(
                sql: "UPDATE prints SET last_matched_at = ? WHERE id = ?",
                arguments: [date.timeIntervalSince1970, id.description]
            )
            // A row whose template was changed from outside must not become sound again by being sealed anew.
            guard let updated, seal.open(row) != nil else { return }
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
            sql: "SELECT * FROM prints WHERE id = ? AND state = 'enrolled'",
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
