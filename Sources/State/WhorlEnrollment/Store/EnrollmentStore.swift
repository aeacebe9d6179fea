// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import FoundationEssentials
import WhorlSQLite
package import WhorlStateStore
package import WhorlService

/// The store of every profile's enrolled fingers and of the digest of their set.
///
/// Before it returns anything, the store verifies the manifest's MAC and decrypts every template. Rows that were
/// tampered with cause ``ServiceError/Code/enrollmentTampered`` and never result in a finger.
package final class EnrollmentStore: Sendable {
    package let database: StateDatabase
    let generations: any GenerationCounter
    /// The rule for which prints are trusted.
    let trust: PrintTrust

    /// Creates a store for a database.
    package init(
        database: StateDatabase,
        generations: any GenerationCounter = SoftwareGeneration(),
        trust: PrintTrust = .everyPrint
    ) {
        self.database = database
        self.generations = generations
        self.trust = trust
    }

    /// Returns a profile's enrolled fingers, sorted by finger and then by reader.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
    package func fingers(of profile: String) async throws(ServiceError) -> [EnrolledFinger] {
        try await snapshot(of: profile).fingers
    }

    /// Returns the templates that a reader can compare with, those matched most recently first, followed by the newest.
    ///
    /// - Throws: The errors of ``fingers(of:)``.
    package func gallery(
        of profile: String,
        on reader: ReaderID
    ) async throws(ServiceError) -> [GalleryEntry] {
        try await snapshot(of: profile).gallery(on: reader)
    }

    /// Returns one of a profile's enrolled fingers, or `nil` if the profile has no print with this identity.
    ///
    /// - Throws: The errors of ``fingers(of:)``.
    package func finger(_ id: PrintID, of profile: String) async throws(ServiceError) -> EnrolledFinger? {
        try await snapshot(of: profile).manifest.prints.first { $0.id == id }?.enrolledFinger
    }

    /// Returns whether a print is enrolled according to the database, without checking the set's MAC or the counter.
    ///
    /// - Throws: A storage error.
    package func isEnrolled(_ id: PrintID, of profile: String) async throws(ServiceError) -> Bool {
        try await database.read { db in
            try PrintRow.enrolled(id, db)?.profile == profile
        }
    }

    /// Returns the number of changes to the set according to the database, without checking the set's MAC or the
    /// counter.
    ///
    /// - Throws: A storage error.
    package func recordedGeneration(of profile: String) async throws(ServiceError) -> UInt64 {
        try await database.read { try Manifest.Head($0, profile: profile).generation }
    }

    /// Returns the state that a program compares, or `nil` if no finger is enrolled.
    ///
    /// - Parameters:
    ///   - profile: The profile that the fingers belong to.
    ///   - application: The name of the program.
    /// - Returns: The digest and the generation.
    /// - Throws: The errors of ``fingers(of:)``.
    package func state(
        of profile: String,
        application: String
    ) async throws(ServiceError) -> EnrollmentState? {
        try await snapshot(of: profile).state(for: application)
    }

    /// Returns the changes since `digest`, which ``state(of:application:)`` returned for the same program.
    ///
    /// - Parameters:
    ///   - profile: The profile that the fingers belong to.
    ///   - application: The name of the program.
    ///   - digest: The earlier digest (32 bytes). A digest of any other size counts as unknown.
    /// - Returns: The fingers that were added and removed, and whether the digest is known.
    /// - Throws: The errors of ``fingers(of:)``.
    package func difference(
        of profile: String,
        application: String,
        since digest: Data
    ) async throws(ServiceError) -> EnrollmentDifference {
        let now = try await snapshot(of: profile).manifest
        let history = try await database.read { db in
            try db.values(
                sql: "SELECT encoding FROM enrollment_history WHERE profile = ? ORDER BY generation DESC",
                arguments: [profile]
            ) as [Data]
        }
        let keys = database.keys
        // The digest authenticates the entry: a forged entry has a digest that was never returned.
        let found = history.first {
            EnrollmentSet.digest(of: $0, application: application, keys: keys) == digest
        }
        guard let then = found.flatMap(EnrollmentSet.init(encoded:)) else {
            return EnrollmentDifference(changed: true, added: [], removed: [], isKnown: false)
        }
        return EnrollmentDifference(from: then, to: now.set)
    }

    /// Records the time of a print's match and the improved template, if the reader created one.
    ///
    /// The digest does not change. The time is lost if the power fails within seconds, but nothing depends on the time.
    /// If the print has been removed since the match, nothing is recorded. Only the engine may call this function,
    /// after a match, because the template replaces the one that the owner agreed to.
    ///
    /// - Throws: A storage error.
    package func recordMatch(
        _ id: PrintID,
        updated: Template? = nil,
        at date: Date
    ) async throws(ServiceError) {
        let seal = templateSeal
        try await database.write(.relaxed) { db in
            try db.execute(
                sql: "UPDATE prints SET last_matched_at = ? WHERE id = ? AND state = 'enrolled'",
                arguments: [date.timeIntervalSince1970, id.description]
            )
            // A row whose template was tampered with must not become valid by being sealed again.
            guard let updated, let row = try PrintRow.enrolled(id, db), seal.opens(row) else { return }
            try db.execute(
                sql: "UPDATE prints SET template = ? WHERE id = ?",
                arguments: [try seal.seal(updated, for: row), id.description]
            )
        }
    }

    var templateSeal: TemplateCipher { TemplateCipher(keys: database.keys) }
}

extension PrintRow {
    /// Returns the enrolled print with this identity.
    static func enrolled(_ id: PrintID, _ db: Database) throws -> PrintRow? {
        let row = try db.first(
            sql: "SELECT \(PrintRow.columns) FROM prints WHERE id = ? AND state = 'enrolled'",
            arguments: [id.description]
        ) { PrintRow($0) }
        return row ?? nil
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
