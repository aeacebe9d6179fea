// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlStateStore
package import WhorlService

extension AttemptStatus {
    init(_ record: AttemptRecord, on readers: ReaderClass, at now: Moment, endsByTime: Bool) {
        let lock = record.lock(at: now, endsByTime: endsByTime)
        self.init(
            readers: readers,
            failures: record.failures,
            remaining: record.remaining(under: lock),
            totalFailures: record.totalFailures,
            lockouts: record.lockouts,
            isPending: record.isPending,
            lock: Lock(lock, at: now)
        )
    }
}

extension AttemptStatus.Lock {
    fileprivate init(_ state: LockState, at now: Moment) {
        switch state {
        case .open: self = .open
        case .for(let left): self = .until(now.date + TimeInterval(left.components.seconds + 1))
        case .untilPasscode: self = .untilPasscode
        }
    }
}

extension AttemptRecord {
    /// Returns the number of failures left; after a lock has ended by time, one attempt is left.
    fileprivate func remaining(under lock: LockState) -> Int {
        switch lock {
        case .open: max(1, remaining)
        case .for, .untilPasscode: 0
        }
    }
}

extension AuthenticationEngine {
    /// Returns the attempt counters of the profile, for each class of readers.
    ///
    /// It changes nothing, and does not require a reader.
    ///
    /// - Returns: One value for each ``ReaderClass``, even if it had no attempts.
    /// - Throws: `storeFailed`.
    @concurrent
    package func attempts() async throws(ServiceError) -> [AttemptStatus] {
        let endsByTime = await lockEndsByTime
        let now = time.now()
        guard let database = try await state.existing() else {
            return ReaderClass.allCases.map {
                AttemptStatus(.fresh(under: rules), on: $0, at: now, endsByTime: endsByTime)
            }
        }
        return try await database.read { [profile, rules] db in
            try AttemptLedger.all(of: profile, rules: rules).map { ledger in
                AttemptStatus(
                    try ledger.record(in: db),
                    on: ledger.readers,
                    at: now,
                    endsByTime: endsByTime
                )
            }
        }
    }

    /// Returns the problem with the profile's lock file, such as a directory or a link in its place; `nil` if there is
    /// no problem.
    ///
    /// An evaluation fails with the same error. A preflight does not check the lock file.
    @concurrent
    package func turnsFault() async -> ServiceError? {
        do throws(ServiceError) {
            guard let database = try await state.existing() else { return nil }
            return EvaluationLock.fault(at: EvaluationLock.path(in: database.directory, profile: profile))
        } catch {
            return error
        }
    }

    /// Whether a lock ends by time: only if it is certain that no passcode is set.
    var lockEndsByTime: Bool {
        get async {
            do throws(ServiceError) { return try await !passcode.isSet } catch { return false }
        }
    }
}
