// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
import WhorlFingerprint
import WhorlStateStore
package import WhorlService
import WhorlSupport

extension AuthenticationEngine {
    /// Returns an enroller that enrolls, removes and accepts fingers, and counts the touches that are compared with
    /// enrolled fingers.
    ///
    /// - Parameters:
    ///   - store: The store in this engine's state, which contains the fingers.
    ///   - application: The enrolling program, for the log.
    ///   - asker: The same program, as the service knows it, for the log.
    /// - Returns: The enroller for this engine's profile.
    package func enroller(
        _ store: EnrollmentStore,
        for application: ApplicationID,
        asker: Asker? = nil
    ) -> FingerEnroller {
        let counter = EnrollmentTries(engine: self, application: application, asker: asker)
        return FingerEnroller(store: store, counter: counter)
    }
}

/// Counts an enrollment's touches as attempts of evaluations.
struct EnrollmentTries: TouchCounter {
    let engine: AuthenticationEngine
    let application: ApplicationID
    let asker: Asker?

    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(ServiceError) -> any CountedTouches {
        let database = try await engine.state.createdStore().database
        let path = EvaluationLock.path(in: database.directory, profile: engine.profile)
        let lock = try await EvaluationLock.acquire(path, within: limit)
        let bookkeeping = EvaluationBookkeeping(
            database: database,
            profile: engine.profile,
            application: application,
            reader: reader,
            reason: "check the \(finger.spokenName), which is being enrolled",
            lockEndsByTime: await engine.lockEndsByTime,
            rules: engine.rules,
            time: engine.time,
            asker: asker
        )
        return Touches(bookkeeping: bookkeeping, lock: lock)
    }

    /// The touches of one enrollment, which holds the profile's lock.
    private struct Touches: CountedTouches {
        let bookkeeping: EvaluationBookkeeping
        let lock: FileLock

        func reserve() async throws(ServiceError) {
            try await bookkeeping.reserve()
        }

        func charge() async throws(ServiceError) {
            let left = try await bookkeeping.charge()
            if let lockout = ServiceError.lockout(left.lock) { throw lockout }
        }

        func release() async { await bookkeeping.release() }
    }
}
