// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import Foundation
import GRDB
import StateStore
package import WhorlService

extension EnrollmentStore {
    /// Adds one print to the set: row, generation, history and MAC in one transaction.
    ///
    /// - Parameters:
    ///   - template: The template that the reader made.
    ///   - finger: The finger's name.
    ///   - label: The person's own words; they are cleaned.
    ///   - profile: The profile that gets the finger.
    ///   - reader: The reader that made it.
    ///   - id: The print's identity; an intent of the same identity is replaced.
    ///   - date: The time of the enrollment.
    ///   - consent: The owner's consent; `nil` is enough for the first finger of a profile without a passcode.
    /// - Returns: The finger as it is stored.
    /// - Throws: `fingerExists`, `ownerNeeded`, `changedMeanwhile`, `enrollmentTampered`, `enrollmentRolledBack`,
    ///   `store`.
    package func add(
        _ template: Template,
        as finger: Finger,
        label: String?,
        profile: String,
        on reader: ReaderInfo,
        id: PrintID = PrintID(),
        at date: Date,
        consent: OwnerConsent?
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
            templateDigest: TemplateCipher.digest(of: template),
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
        return try await change(profile, .add(finger), by: consent, at: date) { db, prints in
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

    /// Takes prints out of a sound set, in one transaction.
    ///
    /// Prints that a reader keeps stay in the table as `removing`, until ``finishRemoval(_:)``.
    ///
    /// - Returns: The rows that were taken out.
    /// - Throws: `noSuchFinger` if the selection names no print, except for `all`; `ownerNeeded`, `changedMeanwhile`,
    ///   `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    func beginRemoval(
        of selection: FingerSelection,
        profile: String,
        consent: OwnerConsent?
    ) async throws(EnrollmentError) -> [PrintRow] {
        try await change(profile, .remove(selection), by: consent, at: Date()) { db, prints in
            let meant = prints.filter(selection.includes)
            guard !meant.isEmpty || selection == .all else {
                return .failure(EnrollmentError(.noSuchFinger))
            }
            for row in meant { try row.leaveSet(db) }
            return .success(Change(prints: prints.filter { !selection.includes($0) }, value: meant))
        }
    }
}

extension PrintRow {
    /// Marks the row as `removing` while the reader still keeps the print; deletes the row of a print on the host.
    func leaveSet(_ db: Database) throws {
        let sql =
            isOnReader
            ? "UPDATE prints SET state = 'removing' WHERE id = ?"
            : "DELETE FROM prints WHERE id = ?"
        try db.execute(sql: sql, arguments: [id.description])
    }
}
