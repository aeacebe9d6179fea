// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import WhorlSQLite
import WhorlStateStore
import WhorlFingerprint
package import WhorlService

/// The result of a change, which consists of the set's new prints and a value for the caller.
struct Change<Value: Sendable>: Sendable {
    /// The enrolled prints after the change.
    let prints: [PrintRow]
    let value: Value
}

extension EnrollmentStore {
    /// The number of times that a read is repeated if another process changes the set at the same time.
    private static let patience = 100

    /// Returns the profile's set after checking that it is valid and matches the counter's generation.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, `readerWasOpen`, a storage error.
    package func snapshot(of profile: String) async throws(ServiceError) -> EnrollmentSnapshot {
        try await snapshot(of: profile) { _ in () }.snapshot
    }

    /// Returns the profile's set together with the result of further reads at the same point in time.
    ///
    /// - Parameters:
    ///   - profile: The profile of the set.
    ///   - more: A function that reads in the same transaction. It may run again if another process changed the set.
    /// - Returns: The set and the value that `more` returned.
    /// - Throws: The errors of ``snapshot(of:)``.
    package func snapshot<More: Sendable>(
        of profile: String,
        with more: @escaping @Sendable (Database) throws -> More
    ) async throws(ServiceError) -> (snapshot: EnrollmentSnapshot, more: More) {
        let found = try await soundSnapshot(of: profile, with: more)
        if let finger = found.snapshot.fingers.first(where: { !trust.accepts($0) }) {
            throw ServiceError(
                .readerWasOpen,
                cause:
                    "the \(finger.finger.spokenName) in \(finger.reader), enrolled: \(finger.access.rawValue)"
            )
        }
        return found
    }

    /// Returns the same result as ``snapshot(of:with:)``, regardless of who could open the readers.
    private func soundSnapshot<More: Sendable>(
        of profile: String,
        with more: @escaping @Sendable (Database) throws -> More
    ) async throws(ServiceError) -> (snapshot: EnrollmentSnapshot, more: More) {
        let seal = templateSeal
        var last: UInt64?
        for _ in 0..<EnrollmentStore.patience {
            let (manifest, more) = try await database.read {
                (try Manifest($0, profile: profile), try more($0))
            }
            guard manifest.isAuthentic(seal) else {
                throw ServiceError(
                    .enrollmentTampered,
                    cause: "the manifest of generation \(manifest.generation)"
                )
            }
            let found = (EnrollmentSnapshot(manifest: manifest, seal: seal), more)
            // In generation 0, the profile never had a print or a counter.
            guard manifest.generation > 0 else { return found }
            let stored = manifest.generation
            let fault: String
            if try await isCounterGone(manifest) {
                fault = "this set's counter is unknown"
            } else {
                let current = try await generations.current(of: profile, stored: stored)
                if current == stored { return found }
                if current == stored - 1 {
                    // A process crashed between commit and count, or another one is about to count.
                    try await generations.advance(profile, to: stored)
                    return found
                }
                fault = "generation \(stored), counter \(current)"
            }
            // Read again: the set may have changed between the two reads. If it did not, it is an older one.
            if last == stored { throw ServiceError(.enrollmentRolledBack, cause: fault) }
            last = stored
        }
        throw ServiceError(.storeBusy, database.directory.path)
    }

    /// Returns whether the counter that counted this set's changes is no longer the profile's counter.
    ///
    /// If so, no new counter may be created for the set.
    private func isCounterGone(_ manifest: Manifest) async throws(ServiceError) -> Bool {
        guard manifest.isCounted(database.keys) else { return false }
        return try await !generations.hasCounter(manifest.profile)
    }

    /// Changes the set by writing the rows, the generation, the history and the MAC in one transaction, and then
    /// advances the counter.
    ///
    /// The owner's consent is checked in the transaction against the state found there.
    ///
    /// - Parameters:
    ///   - profile: The profile of the set.
    ///   - change: The change that the owner agrees to.
    ///   - consent: The owner's consent to the change. `nil` is sufficient if no finger is enrolled and no passcode is
    ///     set.
    ///   - date: The time of the change, for a new profile.
    ///   - body: A function that writes the rows. It receives the enrolled prints, and may run again if another process
    ///     changed the set first.
    /// - Returns: The value that `body` returned.
    /// - Throws: `ownerNeeded`, `changedMeanwhile`, the errors of `body`, `enrollmentTampered`, `enrollmentRolledBack`,
    ///   or a storage error.
    func change<Value: Sendable>(
        _ profile: String,
        _ change: OwnerConsent.Change,
        by consent: OwnerConsent?,
        at date: Date,
        _ body: @escaping @Sendable (Database, [PrintRow]) throws -> Result<Change<Value>, ServiceError>
    ) async throws(ServiceError) -> Value {
        let seal = templateSeal
        for _ in 0..<EnrollmentStore.patience {
            let before = try await snapshot(of: profile).manifest.head
            let next = try await successor(of: profile, after: before.generation, in: before.epoch)
            let isCounted = try await generations.hasCounter(profile)
            let outcome: Result<Value?, ServiceError> = try await database.transaction { db in
                let now = try Manifest(db, profile: profile)
                guard now.head == before else { return .success(nil) }
                guard now.isAuthentic(seal) else { return .failure(ServiceError(.enrollmentTampered)) }
                if let refusal = try self.refusal(of: change, by: consent, now, isTrusted: true, db) {
                    return .failure(refusal)
                }
                switch try body(db, now.prints) {
                case .failure(let error): return .failure(error)
                case .success(let made):
                    let after = Manifest(profile: profile, head: next, prints: made.prints)
                    try after.save(db, keys: seal.keys, at: date, isCounted: isCounted)
                    return .success(made.value)
                }
            }
            if let value = try outcome.get() {
                try await generations.advance(profile, to: next.generation)
                return value
            }
        }
        throw ServiceError(.storeBusy, database.directory.path)
    }

    /// Returns the head of the next generation for a set that is being changed.
    ///
    /// If the generations are used up, which happens only in an edited database, they restart in a new epoch of 16
    /// random bytes. From then on, the epoch is part of every digest so that no digest reappears.
    ///
    /// - Parameters:
    ///   - profile: The profile of the set.
    ///   - generation: The highest known generation.
    ///   - epoch: The current epoch.
    /// - Returns: The head of the next manifest, whose MAC is computed when it is saved.
    /// - Throws: The counter's error, or a storage error if a counter with its own storage is used up.
    func successor(
        of profile: String,
        after generation: UInt64,
        in epoch: Data?
    ) async throws(ServiceError) -> Manifest.Head {
        let current = try await generations.current(of: profile, stored: generation)
        if current < Manifest.lastGeneration {
            return Manifest.Head(generation: current + 1, epoch: epoch, mac: nil)
        }
        // A counter without its own storage starts at 0; any other is more reliable than the database.
        let own = try await generations.current(of: profile, stored: 0)
        guard own < Manifest.lastGeneration else {
            let path = database.directory.path
            throw ServiceError(.storeFailed, path, cause: "counter \(own)")
        }
        return Manifest.Head(generation: own + 1, epoch: EnrollmentSet.newEpoch(), mac: nil)
    }
}

extension EnrollmentStore {
    /// Records that no counters outside the database count the changes to sets of fingers, before these counters are
    /// removed.
    ///
    /// A set that is not valid is left unchanged so that it does not become valid.
    ///
    /// - Throws: A storage error.
    package func forgetCounters() async throws(ServiceError) {
        let seal = templateSeal
        try await database.write { db in
            for profile in try db.values(sql: "SELECT name FROM profiles") as [String] {
                let manifest = try Manifest(db, profile: profile)
                guard manifest.isCounted(seal.keys), manifest.isAuthentic(seal) else { continue }
                try manifest.save(db, keys: seal.keys, at: Date(), isCounted: false)
            }
        }
    }
}
