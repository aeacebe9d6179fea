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
    /// Returns the number of remaining attempts, which is one after a timed lockout has ended.
    fileprivate func remaining(under lock: LockState) -> Int {
        switch lock {
        case .open: max(1, remaining)
        case .for, .untilPasscode: 0
        }
    }
}

extension AuthenticationEngine {
    /// Returns the profile's attempt counters for each class of readers.
    ///
    /// It does not change anything, and does not require a reader.
    ///
    /// - Returns: One value for each ``ReaderClass``, even if there were no attempts on it.
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

    /// Returns the error if the profile's lock file cannot be used, for example because its path is a directory or a
    /// link; `nil` if it can be.
    ///
    /// An evaluation fails with the same error, but a preflight does not check the lock file.
    @concurrent
    package func turnsFault() async -> ServiceError? {
        do throws(ServiceError) {
            guard let database = try await state.existing() else { return nil }
            return EvaluationLock.fault(at: EvaluationLock.path(in: database.directory, profile: profile))
        } catch {
            return error
        }
    }

    /// Whether a lockout ends after a time, which is the case only if it is certain that no passcode is set.
    var lockEndsByTime: Bool {
        get async {
            do throws(ServiceError) { return try await !passcode.isSet } catch { return false }
        }
    }
}
