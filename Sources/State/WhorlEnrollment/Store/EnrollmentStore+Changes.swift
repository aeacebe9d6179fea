// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
package import WhorlFingerprint
package import WhorlService

extension EnrollmentStore {
    /// Adds one print to the set by writing its row, the generation, the history and the MAC in one transaction.
    ///
    /// - Parameters:
    ///   - template: The template that the reader created.
    ///   - finger: The finger's name.
    ///   - label: The user's own label, which is cleaned up.
    ///   - profile: The profile to add the finger to.
    ///   - reader: The reader that created the template.
    ///   - id: The print's identity. An intent with the same identity is replaced.
    ///   - date: The time of the enrollment.
    ///   - access: The access that other users had to the reader during the enrollment.
    ///   - consent: The owner's consent. `nil` is sufficient for the first finger of a profile without a passcode.
    /// - Returns: The finger as it was stored.
    /// - Throws: `fingerExists`, `ownerNeeded`, `changedMeanwhile`, `enrollmentTampered`, `enrollmentRolledBack`, a
    ///   storage error.
    package func add(
        _ template: Template,
        as finger: Finger,
        label: String?,
        profile: String,
        on reader: ReaderInfo,
        id: PrintID = PrintID(),
        at date: Date,
        access: ReaderAccess.State? = nil,
        consent: OwnerConsent?
    ) async throws(ServiceError) -> EnrolledFinger {
        var row = PrintRow(
            id: id,
            profile: profile,
            finger: finger,
            label: FingerLabel.clean(label),
            reader: reader.id,
            readerName: reader.name,
            storage: reader.storage,
            templateDigest: TemplateCipher.digest(of: template),
            enrolledAt: date.timeIntervalSince1970,
            state: .enrolled,
            access: access ?? reader.access.state
        )
        do {
            row.sealed = try templateSeal.seal(template, for: row)
        } catch {
            throw ServiceError(.storeFailed, database.directory.path, cause: "\(error)")
        }
        let complete = row
        return try await change(profile, .add(finger), by: consent, at: date) { db, prints in
            if prints.contains(where: { $0.finger == finger && $0.reader == reader.id }) {
                return .failure(ServiceError(.fingerExists, details: [.finger: finger.rawValue]))
            }
            try db.execute(
                sql: "DELETE FROM prints WHERE id = ? AND state = 'pending'",
                arguments: [id.description]
            )
            try complete.insert(db)
            return .success(Change(prints: prints + [complete], value: complete.enrolledFinger))
        }
    }

    /// Removes prints from a valid set in one transaction.
    ///
    /// Prints that a reader stores stay in the table as `removing` until ``finishRemoval(_:)`` is called.
    ///
    /// - Returns: The rows that were removed.
    /// - Throws: `noSuchFinger` if the selection is not `all` and does not match any print, `ownerNeeded`,
    ///   `changedMeanwhile`, `enrollmentTampered`, `enrollmentRolledBack`, or a storage error.
    func beginRemoval(
        of selection: FingerSelection,
        profile: String,
        consent: OwnerConsent?
    ) async throws(ServiceError) -> [PrintRow] {
        try await change(profile, .remove(selection), by: consent, at: Date()) { db, prints in
            let meant = prints.filter(selection.includes)
            guard !meant.isEmpty || selection == .all else {
                return .failure(ServiceError(.noSuchFinger))
            }
            for row in meant { try row.leaveSet(db) }
            return .success(Change(prints: prints.filter { !selection.includes($0) }, value: meant))
        }
    }
}

extension EnrollmentStore {
    /// Replaces the label of fingers, which is not part of the set.
    ///
    /// - Returns: The fingers with the new label.
    /// - Throws: `noSuchFinger` if the selection is `all` or matches no finger, or the errors of ``fingers(of:)``.
    package func label(
        _ selection: FingerSelection,
        as label: String?,
        of profile: String
    ) async throws(ServiceError) -> [EnrolledFinger] {
        func isMeant(_ finger: EnrolledFinger) -> Bool {
            switch selection {
            case .print(let id): finger.id == id
            case .finger(let name, let reader):
                finger.finger == name && (reader ?? finger.reader) == finger.reader
            case .all: false
            }
        }
        let meant = Set(try await fingers(of: profile).filter(isMeant).map(\.id))
        guard !meant.isEmpty else { throw ServiceError(.noSuchFinger) }
        let label = FingerLabel.clean(label)
        try await database.write(.full) { db in
            for id in meant {
                try db.execute(
                    sql: "UPDATE prints SET label = ? WHERE id = ? AND state = 'enrolled'",
                    arguments: [label, id.description]
                )
            }
        }
        return try await fingers(of: profile).filter { meant.contains($0.id) }
    }
}

extension PrintRow {
    /// Marks the row as `removing` if the reader still stores the print, or deletes the row if the print is on the
    /// host.
    func leaveSet(_ db: Database) throws {
        let sql =
            isOnReader
            ? "UPDATE prints SET state = 'removing' WHERE id = ?"
            : "DELETE FROM prints WHERE id = ?"
        try db.execute(sql: sql, arguments: [id.description])
    }
}

/// The result of restarting a set that cannot be trusted.
struct Restart: Sendable {
    /// The prints that are enrolled from now on.
    let kept: [PrintRow]
    /// The prints that were removed, as far as their rows could be read.
    let removed: [PrintRow]
}

extension EnrollmentStore {
    /// Makes a set valid again after it was tampered with or rolled back to an older state.
    ///
    /// The generation continues from the highest known one in a new random epoch. No earlier digest reappears, and
    /// items that the TPM bound to an earlier generation still cannot be unlocked.
    ///
    /// - Parameters:
    ///   - status: The state of the set when it was found to be untrustworthy.
    ///   - change: The change to make. `accept` keeps the prints that this machine sealed, and any other change removes
    ///     all prints.
    ///   - consent: The owner's consent by passcode. `nil` is sufficient if no passcode is set.
    /// - Returns: The prints that were kept and those that were removed.
    /// - Throws: `ownerNeeded`, `changedMeanwhile`, a storage error, or the counter's errors.
    func restart(
        _ status: EnrollmentStatus,
        _ change: OwnerConsent.Change,
        by consent: OwnerConsent?
    ) async throws(ServiceError) -> Restart {
        let profile = status.profile
        let (head, known, refusal) = try await database.read { db in
            let now = try Manifest(db, profile: profile)
            return (
                now.head,
                try db.value(
                    sql: "SELECT max(generation) FROM enrollment_history WHERE profile = ?",
                    arguments: [profile]
                ) as Int64?,
                try self.refusal(of: change, by: consent, now, isTrusted: false, db)
            )
        }
        // Do not touch the counter before the owner's consent is confirmed.
        if let refusal { throw refusal }
        let highest = max(head.generation, UInt64(clamping: known ?? 0))
        let restarted = try await generations.restart(profile, stored: highest)
        let generation = try await successor(of: profile, after: restarted, in: head.epoch).generation
        let next = Manifest.Head(generation: generation, epoch: EnrollmentSet.newEpoch(), mac: nil)
        let isCounted = try await generations.hasCounter(profile)
        let outcome = try await save(next, status, change, by: consent, isCounted: isCounted)
        let restart = try outcome.get()
        try await generations.advance(profile, to: next.generation)
        return restart
    }

    private func save(
        _ head: Manifest.Head,
        _ status: EnrollmentStatus,
        _ change: OwnerConsent.Change,
        by consent: OwnerConsent?,
        isCounted: Bool
    ) async throws(ServiceError) -> Result<Restart, ServiceError> {
        let (seal, profile, trust) = (templateSeal, status.profile, trust)
        return try await database.transaction { db in
            let now = try Manifest(db, profile: profile)
            if let refusal = try self.refusal(of: change, by: consent, now, isTrusted: false, db) {
                return .failure(refusal)
            }
            guard FingersState(now, seal) == status.state else {
                return .failure(ServiceError(.changedMeanwhile))
            }
            let kept =
                change == .accept
                ? now.prints.filter { seal.opens($0) && trust.accepts($0.enrolledFinger) } : []
            let keptIDs = Set(kept.map(\.id))
            let removed = now.prints.filter { !keptIDs.contains($0.id) }
            for row in removed { try row.leaveSet(db) }
            try self.deleteUnreadable(of: profile, besides: keptIDs, db)
            let after = Manifest(profile: profile, head: head, prints: kept)
            try after.save(db, keys: seal.keys, at: Date(), isCounted: isCounted)
            return .success(Restart(kept: kept, removed: removed))
        }
    }

    /// Deletes rows that do not belong to any finger.
    ///
    /// These rows cannot be read or are in a state that this program never leaves behind.
    private func deleteUnreadable(of profile: String, besides kept: Set<PrintID>, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM prints WHERE profile = ? AND (state = 'enrolled' OR storage = 'host')
                    AND id NOT IN (\(Array(repeating: "?", count: kept.count).joined(separator: ", ")))
                """,
            arguments: [profile] + kept.map(\.description)
        )
    }
}
