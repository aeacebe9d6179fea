// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import FoundationEssentials
import WhorlSQLite
import Logging
package import WhorlStateStore
package import WhorlService

/// Writes the records of one evaluation: its attempts, its match and its end.
///
/// Each function is one transaction. Changes that count against the user or protect an attempt (``reserve()``,
/// ``charge()``) survive a power failure once the function has returned. A match does not wait for the disk. If it is
/// lost in a power failure, the reservation counts as a failure.
package struct EvaluationBookkeeping: Sendable {
    package let database: StateDatabase
    package let profile: String
    package let application: ApplicationID
    /// The reader in use; `nil` if there is no reader and only the end of the evaluation is recorded.
    package let reader: ReaderInfo?
    /// The reason that the request gives.
    package let reason: String
    /// Whether a lockout ends after a time, because no passcode is set.
    package let lockEndsByTime: Bool
    /// The machine's rules for failed attempts.
    let rules: AttemptRules
    package let time: MachineTime
    /// The requesting program, as the service knows it.
    let asker: Asker?
    private let reuse: ReuseWindow
    /// The counter of the login place's failed attempts, which is used before the user's; `nil` if there is none.
    package var place: (any PlaceTries)?
    /// The stay in a login session; `nil` if it is unknown, in which case matches are not remembered or reused.
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

    /// Reserves the next scan.
    ///
    /// Only the holder of the profile's ``EvaluationLock`` may call this function.
    ///
    /// - Throws: `biometryLockout` if no attempts are left or the login place is in a waiting time, or `storeFailed`.
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

    /// Counts the reserved scan as a failure: first for the login place, then for the user.
    ///
    /// The miss that first starts a waiting time at the login place counts only there, so that the login place pauses
    /// before any user's fingers are locked out.
    ///
    /// - Returns: The number of remaining attempts, and the error that ends the scan; `nil` if another attempt is
    ///   allowed.
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

    /// Logs the reserved scan as a failure that does not count for the user.
    private func spare() async throws(ServiceError) {
        let now = time.now()
        try await write(.full) { db in
            var record = try ledger.record(in: db)
            record.release()
            try ledger.save(record, in: db)
            try append(.failedTry, "noMatch", detail: reason, at: now, in: db)
        }
    }

    /// Counts the reserved scan as a failure for the user.
    ///
    /// - Returns: The number of remaining attempts, and the state of the lockout.
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

    /// Drops the reservation of a scan without a result.
    ///
    /// If this cannot be written, the reservation remains and later counts as a failure.
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
    /// The attempts, the reuse window and the log change together or not at all. If the passcode was faster, the window
    /// is not changed, the reservation is dropped, and a success is not logged.
    ///
    /// This function runs between the match and the answer, so it does only what must precede the answer. The attempt
    /// was durably reserved before the scan, so only the success can be lost in a power failure. The match must not be
    /// lost if the process is killed, and the set of enrolled fingers must still be the one from which the gallery was
    /// created. The time of a print's last match only determines the order of the next gallery, and its row is large,
    /// so it is written after the answer.
    ///
    /// - Parameters:
    ///   - match: The match.
    ///   - second: The match of a second finger, if two are required; only `match` is remembered for reuse.
    ///   - fingers: The set of enrolled fingers from which the gallery was created.
    ///   - decision: The decision on which method succeeds first.
    /// - Throws: `systemCancel` if the set of enrolled fingers has changed since `fingers`, because the print that
    ///   matched may have been removed; `appCancel` if the passcode was faster; or `storeFailed`.
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

    /// Records that the reserved scan matched a member of a group.
    ///
    /// The match is logged in that user's own log.
    func settleIdentified() async throws(ServiceError) {
        let now = time.now()
        try await write(.relaxed) { db in
            try ledger.reset(in: db)
            try append(.evaluation, "identified", detail: reason, at: now, in: db)
        }
    }

    /// Records a success.
    ///
    /// If this fails, it does not count as the first success.
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

    /// Returns a match that can replace a new touch; `nil` if there is none.
    ///
    /// A match is not valid if the set of enrolled fingers has changed since `fingers`, even if only a template was
    /// edited.
    ///
    /// - Throws: `storeFailed`, also if the use of the match cannot be logged.
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

    /// Returns the number of failed attempts with fingers and passcodes since the last success.
    ///
    /// The number is 0 if it cannot be read, because it is only shown to the owner.
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

    /// Logs the end of a failed evaluation.
    ///
    /// If the log cannot be written, the answer does not change.
    package func logEnd(_ error: ServiceError) async {
        await logQuietly(.evaluation, error.code.rawValue, detail: reason)
    }

    /// Logs that a reader returned an impossible result.
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
