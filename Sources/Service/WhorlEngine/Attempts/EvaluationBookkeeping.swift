// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import FoundationEssentials
import WhorlSQLite
import Logging
package import WhorlStateStore
package import WhorlService

/// The records written by one evaluation: its attempts, its match, its end.
///
/// Each function is one transaction. Changes that count against the user or guard an attempt (``reserve()``,
/// ``charge()``) survive a power cut once the function has returned. A match does not wait for the disk: a power cut
/// can lose it, and the reservation then counts as a failure.
package struct EvaluationBookkeeping: Sendable {
    package let database: StateDatabase
    package let profile: String
    package let application: ApplicationID
    /// The reader in use; `nil` if there is no reader and only the end of the evaluation is recorded.
    package let reader: ReaderInfo?
    /// The reason of the request.
    package let reason: String
    /// Whether a lock ends by time, because no passcode is set.
    package let lockEndsByTime: Bool
    /// The machine's rules for failed attempts.
    let rules: AttemptRules
    package let time: MachineTime
    /// The requesting program, as a service knows it.
    let asker: Asker?
    private let reuse: ReuseWindow
    /// The login place whose failed attempts count before the user's; `nil` if there is no such place.
    package var place: (any PlaceTries)?
    /// The stay in a login session; a match is remembered and reused only in a known one.
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
    /// - Throws: `biometryLockout` if no attempt is left, or during a waiting time at the login place; `storeFailed`.
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
    /// The first miss in a row that starts a waiting time at the login place counts only there, so that the login place
    /// pauses before anyone's fingers are locked.
    ///
    /// - Returns: The number of attempts left, and the error that ends the scan; `nil` if another attempt is allowed.
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

    /// Counts the reserved scan as a failure of the user.
    ///
    /// - Returns: The number of attempts left, and the state of the lock.
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
    /// If this cannot be written, the reservation stays and counts as a failure later.
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
    /// Attempts, reuse window and log change together or not at all. If the passcode was faster, the window stays as it
    /// is, the reservation is dropped, and no success is logged.
    ///
    /// This runs between the match and the answer, so it does only what must precede the answer. The attempt was
    /// durably reserved before the scan, so a power cut can lose only the success. A killed process must not lose the
    /// match, and the set of enrolled fingers must still be the one from which the gallery was made. The time of a
    /// print's last match only orders the next gallery, and its row is large, so it is written after the answer.
    ///
    /// - Parameters:
    ///   - match: The match.
    ///   - second: The match of a second finger, if two are required; only `match` is remembered for reuse.
    ///   - fingers: The set of enrolled fingers from which the gallery was made.
    ///   - decision: The decision about which method succeeds first.
    /// - Throws: `systemCancel` if the set of enrolled fingers has changed since `fingers`, because the print that
    ///   matched may have been removed. `appCancel` if the passcode was faster. `storeFailed`.
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

    /// Records that the reserved scan matched a member of a group; the match is logged in that person's own log.
    func settleIdentified() async throws(ServiceError) {
        let now = time.now()
        try await write(.relaxed) { db in
            try ledger.reset(in: db)
            try append(.evaluation, "identified", detail: reason, at: now, in: db)
        }
    }

    /// Records a success; if this fails, it does not count as the first success.
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

    /// Returns a match that can replace a new touch; `nil` if there is no such match.
    ///
    /// A match does not count if the set of enrolled fingers has changed since `fingers`, even by an edited template.
    ///
    /// - Throws: `storeFailed`, including when the use of the match cannot be logged.
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

    /// Returns the number of failed attempts since the last success, with fingers and passcodes.
    ///
    /// The number is only shown to the owner, so it is 0 if it cannot be read.
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
    /// If the log cannot be written, the answer stays the same.
    package func logEnd(_ error: ServiceError) async {
        await logQuietly(.evaluation, error.code.rawValue, detail: reason)
    }

    /// Logs a reader that returned an impossible result.
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
