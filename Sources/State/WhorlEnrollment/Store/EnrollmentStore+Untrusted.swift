// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import GRDB
import StateStore
import WhorlService

/// The result of restarting a set that could not be trusted.
struct Restart: Sendable {
    /// The prints that are enrolled from now on.
    let kept: [PrintRow]
    /// The prints that were removed, as far as their rows could be read.
    let removed: [PrintRow]
}

extension EnrollmentStore {
    /// Makes a set that was changed from outside or is of an older state sound again.
    ///
    /// The generation goes on from the highest known one, in a new random epoch: no earlier digest comes back, and
    /// items that the chip bound to an earlier generation stay refused.
    ///
    /// - Parameters:
    ///   - status: The state of the set when it was found untrustworthy.
    ///   - change: `accept` keeps the prints that this machine sealed; any other change keeps none.
    ///   - consent: The owner's consent by the passcode; `nil` is enough if no passcode is set.
    /// - Returns: The prints that were kept and those that were removed.
    /// - Throws: `ownerNeeded`, `changedMeanwhile`, `store`, and the counter's errors.
    func restart(
        _ status: EnrollmentStatus,
        _ change: OwnerConsent.Change,
        by consent: OwnerConsent?
    ) async throws(EnrollmentError) -> Restart {
        let profile = status.profile
        let (head, known, refusal) = try await read { db in
            let now = try Manifest(db, profile: profile)
            return (
                now.head,
                try Int64.fetchOne(
                    db,
                    sql: "SELECT max(generation) FROM enrollment_history WHERE profile = ?",
                    arguments: [profile]
                ),
                try self.refusal(of: change, by: consent, now, isTrusted: false, db)
            )
        }
        // The counter is not touched before the owner's consent is confirmed.
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
    ) async throws(EnrollmentError) -> Result<Restart, EnrollmentError> {
        let (seal, profile) = (templateSeal, status.profile)
        return try await transaction { db in
            let now = try Manifest(db, profile: profile)
            if let refusal = try self.refusal(of: change, by: consent, now, isTrusted: false, db) {
                return .failure(refusal)
            }
            guard FingersState(now, seal) == status.state else {
                return .failure(EnrollmentError(.changedMeanwhile))
            }
            let kept = change == .accept ? now.prints.filter(seal.opens) : []
            let keptIDs = Set(kept.map(\.id))
            let removed = now.prints.filter { !keptIDs.contains($0.id) }
            for row in removed { try row.leaveSet(db) }
            try self.deleteUnreadable(of: profile, besides: keptIDs, db)
            let after = Manifest(profile: profile, head: head, prints: kept)
            try after.save(db, keys: seal.keys, at: Date(), isCounted: isCounted)
            return .success(Restart(kept: kept, removed: removed))
        }
    }

    /// Deletes rows that cannot be read, or are in a state that this program never leaves: they belong to no finger.
    private func deleteUnreadable(of profile: String, besides kept: Set<PrintID>, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM prints WHERE profile = ? AND (state = 'enrolled' OR storage = 'host')
                    AND id NOT IN (\(databaseQuestionMarks(count: kept.count)))
                """,
            arguments: [profile] + StatementArguments(kept.map(\.description))
        )
    }
}
