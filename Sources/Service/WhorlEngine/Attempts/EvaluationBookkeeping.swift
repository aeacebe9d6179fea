// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import FoundationEssentials
import WhorlSQLite
import Logging
package import WhorlStateStore
package import WhorlService

/// The records that one evaluation writes: its tries, its match, its end.
///
/// Each function is one transaction. Changes that count against the person or guard a try (``reserve()``, ``charge()``)
/// survive a power cut once the function returns. A match does not wait for the disk: a power cut can lose it, and the
/// reservation then counts as a failure.
package struct EvaluationBookkeeping: Sendable {
    package let database: StateDatabase
    package let profile: String
    package let application: ApplicationID
    /// The reader that is asked; `nil` where none is asked, and only the end of the evaluation is written.
    package let reader: ReaderInfo?
    /// The reason of the request.
    package let reason: String
    /// Whether a lock ends by time, since no passcode is set.
    package let lockEndsByTime: Bool
    /// The machine's rules for failed tries.
    let rules: AttemptRules
    package let time: MachineTime
    /// The program that asks, as a service knows it.
    let asker: Asker?
    private let reuse: ReuseWindow
    /// The place whose failed tries count before the person's; `nil` where none does.
    package var place: (any PlaceTries)?
    /// The stay in a login session; a match is remembered and reused in a known one alone.
    package var stay: String?

    package init(
        database: StateDatabase,
        profile: String,
        application: ApplicationID,
        reader: ReaderInfo?,
        reason: String,
        lockEndsByTime: Bool,
        rules: AttemptRules = .standard,
        time: MachineTime,
        asker: Asker? = nil
    ) {
        self.database = database
        self.profile = profile
        self.application = application
        self.reader = reader
        self.reason = reason
        self.lockEndsByTime = lockEndsByTime
        self.rules = rules
        self.reuse = ReuseWindow(keys: database.keys)
        self.time = time
        self.asker = asker
    }

    private var readers: ReaderClass { reader.map { ReaderClass($0.kind) } ?? .real }

    private var ledger: AttemptLedger { AttemptLedger(profile: profile, readers: readers, rules: rules) }

    /// Reserves the next scan; only the holder of the profile's ``EvaluationLock`` may call it.
    ///
    /// - Throws: `biometryLockout` when no try is left, or while the place rests; `storeFailed`.
    package func reserve() async throws(ServiceError) {
        try await place?.check(readers)
        let now = time.now()
        let lock = try await write(.full) { db in
            var record = try ledger.record(in: db)
            if record.isPending { try append(.failedTry, "abandoned", at: now, in: db) }
            let before = record.lockouts
            let lock = record.reserve(at: now, endsByTime: lockEndsByTime)
            try ledger.save(record, in: db)
            if record.lockouts > before { try locked(at: now, in: db) }
            return lock
        }
        if let error = ServiceError.lockout(lock) { throw error }
    }

    /// Counts the reserved scan as a failure, since it did not match: at the place first, then for the person.
    ///
    /// The first miss in a row with which the place begins to rest is the place's alone: the place rests before anyone's
    /// fingers are locked.
    ///
    /// - Returns: The number of tries that are left, and the error that ends the touches; `nil` where another one is free.
    func chargeMiss() async throws(ServiceError) -> (remaining: Int, end: ServiceError?) {
        switch try await place?.charge(readers) {
        case nil:
            let (remaining, lock) = try await charge()
            return (remaining, ServiceError.lockout(lock))
        case .open(let remainingHere):
            let (remaining, lock) = try await charge()
            return (min(remaining, remainingHere), ServiceError.lockout(lock))
        case .rests(let left, isFirst: false):
            let (_, lock) = try await charge()
            return (0, ServiceError.lockout(lock) ?? .placeRests(for: left))
        case .rests(let left, isFirst: true):
            try await spare()
            return (0, .placeRests(for: left))
        }
    }

    /// Logs the reserved scan as a failure that does not count for the person.
    private func spare() async throws(ServiceError) {
        let now = time.now()
        try await write(.full) { db in
            var record = try ledger.record(in: db)
            record.release()
            try ledger.save(record, in: db)
            try append(.failedTry, "noMatch", detail: reason, at: now, in: db)
        }
    }

    /// Counts the reserved scan as a failure of the person's.
    ///
    /// - Returns: The number of tries that are left, and the state of the lock.
    package func charge() async throws(ServiceError) -> (remaining: Int, lock: LockState) {
        let now = time.now()
        let record = try await write(.full) { db in
            var record = try ledger.record(in: db)
            let before = record.lockouts
            record.charge(at: now)
            try ledger.save(record, in: db)
            try append(.failedTry, "noMatch", detail: reason, at: now, in: db)
            if record.lockouts > before { try locked(at: now, in: db) }
            return record
        }
        return (record.remaining, record.lock(at: now, endsByTime: lockEndsByTime))
    }

    /// Drops the reservation of a scan without an answer.
    ///
    /// If this cannot be written, the reservation stays and is charged later.
    package func release() async {
        do {
            try await write(.relaxed) { db in
                var record = try ledger.record(in: db)
                record.release()
                try ledger.save(record, in: db)
            }
        } catch {
            log.debug("a reserved try was not released (\(error.cause)), ignoring")
        }
    }

    /// Records that the reserved scan matched.
    ///
    /// Tries, reuse window and log change together or not at all. If the passcode was faster, the window stays as it
    /// is, the reservation is dropped, and no success is logged.
    ///
    /// This runs between the match and its answer, so it does only what must precede the answer. The try was reserved
    /// durably before the scan, so a power cut can lose only the success. A killed process must not lose the match, and
    /// the set of enrolled fingers must still be the one that the gallery was made of. The time of a print's last match
    /// only orders the next gallery, and its row is large: it is written after the answer.
    ///
    /// - Parameters:
    ///   - match: The match.
    ///   - second: The match of a second finger, where two are demanded; only `match` is remembered for reuse.
    ///   - fingers: The set of enrolled fingers from which the gallery was made.
    ///   - decision: The decision which method succeeds first.
    /// - Throws: `systemCancel` when the set of enrolled fingers has changed since `fingers`: the print that matched
    ///   may be gone. `appCancel` when the passcode was faster. `storeFailed`.
    package func settle(
        _ match: ReusableMatch,
        and second: ReusableMatch? = nil,
        of fingers: EnrollmentSnapshot,
        _ decision: Decision
    ) async throws(ServiceError) {
        let now = time.now()
        let refusal = try await first(.biometry, decision) { db -> ServiceError? in
            let isCurrent = try fingers.isEnrolled(match.print, in: db)
            guard isCurrent, decision.take(.biometry) else {
                var record = try ledger.record(in: db)
                record.release()
                try ledger.save(record, in: db)
                return isCurrent ? ServiceError(.appCancel) : .enrollmentChangedMeanwhile
            }
            try ledger.reset(in: db)
            if stay != nil { try reuse.remember(match, in: db) }
            for finger in [match.finger, second?.finger].compactMap(\.self) {
                try append(.evaluation, "matched", finger: finger, detail: reason, at: now, in: db)
            }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Records that the reserved scan matched a person of a group, whose own log has the match.
    func settleIdentified() async throws(ServiceError) {
        let now = time.now()
        try await write(.relaxed) { db in
            try ledger.reset(in: db)
            try append(.evaluation, "identified", detail: reason, at: now, in: db)
        }
    }

    /// Writes a success; if that fails, it does not count as the first success.
    func first<Value: Sendable>(
        _ method: Evaluation.Method,
        _ decision: Decision,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        do throws(ServiceError) {
            return try await write(.relaxed, body)
        } catch {
            decision.giveBack(method)
            throw error
        }
    }

    /// Returns the match that may stand in for a new touch; `nil` without one, or if the set of enrolled fingers has
    /// changed since `fingers`, even by an edited template.
    ///
    /// - Throws: `storeFailed`, also when the use of the match cannot be logged.
    package func reusableMatch(
        of fingers: EnrollmentSnapshot,
        within window: Duration
    ) async throws(ServiceError) -> ReusableMatch? {
        guard let reader, let stay, window > .zero else { return nil }
        let now = time.now()
        return try await write(.relaxed) { db in
            guard try ledger.record(in: db).lock(at: now, endsByTime: lockEndsByTime) == .open,
                let match = try reuse.match(of: profile, in: db),
                match.holds(
                    for: profile,
                    generation: fingers.generation,
                    reader: reader,
                    in: stay,
                    at: now,
                    window: window
                ),
                fingers.finger(of: match.print) == match.finger, try fingers.isSound(in: db)
            else { return nil }
            try append(.evaluation, "reused", finger: match.finger, detail: reason, at: now, in: db)
            return match
        }
    }

    /// Returns the number of failed tries since the last success, of fingers and passcodes.
    ///
    /// It is for the owner's eye: if it cannot be read, the answer is 0.
    func failedTries() async -> Int {
        do {
            return try await database.read { [profile] in
                try AuditLog.failedTries(since: AuditKind.success, of: profile, $0)
            }
        } catch {
            log.debug("the failed tries were not counted (\(error.cause)), ignoring")
            return 0
        }
    }

    /// Logs the end of an evaluation without success.
    ///
    /// If the log cannot be written, the answer stays the same.
    package func logEnd(_ error: ServiceError) async {
        await logQuietly(.evaluation, error.code.rawValue, detail: reason)
    }

    /// Logs a reader whose answer cannot be true.
    package func logUntrustworthy(_ cause: String) async {
        await logQuietly(.reader, "untrustworthy", detail: cause)
    }

    func logQuietly(_ event: AuditEntry.Event, _ outcome: String, detail: String) async {
        let now = time.now()
        do {
            try await write(.relaxed) { try append(event, outcome, detail: detail, at: now, in: $0) }
        } catch {
            log.debug("the audit log was not written (\(error.cause)), ignoring")
        }
    }

    private func locked(at now: Moment, in db: Database) throws {
        try ReuseWindow.forget(profile, in: db)
        try append(.lockout, "locked", at: now, in: db)
    }

    func append(
        _ event: AuditEntry.Event,
        _ outcome: String,
        finger: Finger? = nil,
        detail: String? = nil,
        at now: Moment,
        in db: Database
    ) throws {
        let entry = AuditEntry(
            at: now.date,
            profile: profile,
            application: application.rawValue,
            event: event,
            outcome: outcome,
            finger: finger,
            reader: reader?.id,
            detail: detail,
            asker: asker
        )
        try AuditLog.append(entry, in: db)
    }

    private func write<Value: Sendable>(
        _ durability: Durability,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        try await database.write(durability, body)
    }
}

let log = Logger(label: "whorl.authentication")
