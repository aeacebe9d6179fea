// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
import WhorlFingerprint
import StateStore
package import WhorlService
import WhorlSupport

extension AuthenticationEngine {
    /// Makes an enroller that enrolls, removes and accepts fingers, and counts the touches that are compared with
    /// enrolled ones.
    ///
    /// - Parameters:
    ///   - store: The store of this engine's state, which takes the fingers.
    ///   - application: The program that enrolls, for the log.
    ///   - asker: The same program as a service knows it, for the log.
    /// - Returns: The enroller of this engine's profile.
    package func enroller(
        _ store: EnrollmentStore,
        for application: ApplicationID,
        asker: Asker? = nil
    ) -> FingerEnroller {
        let counter = EnrollmentTries(engine: self, application: application, asker: asker)
        return FingerEnroller(store: store, counter: counter)
    }
}

/// The counter of an enrollment's touches, which counts them as tries of evaluations.
struct EnrollmentTries: TouchCounter {
    let engine: AuthenticationEngine
    let application: ApplicationID
    let asker: Asker?

    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(EnrollmentError) -> any CountedTouches {
        let database = try await engine.state.createdStore().database
        let directory = database.directory
        let lock = try await counting(in: directory) { () async throws(AuthenticationError) in
            let path = EvaluationLock.path(in: directory, profile: engine.profile)
            return try await EvaluationLock.acquire(path, within: limit)
        }
        let books = EvaluationBooks(
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
        return Touches(books: books, lock: lock)
    }

    /// The touches of one enrollment, which holds the profile's lock.
    private struct Touches: CountedTouches {
        let books: EvaluationBooks
        let lock: FileLock

        func reserve() async throws(EnrollmentError) {
            try await counting(in: books.database.directory) { () async throws(AuthenticationError) in
                try await books.reserve()
            }
        }

        func charge() async throws(EnrollmentError) {
            let left = try await counting(in: books.database.directory) {
                () async throws(AuthenticationError) in try await books.charge()
            }
            if let error = AuthenticationError.lockout(left.lock) {
                throw EnrollmentError(.lockedOut, cause: error.cause)
            }
        }

        func release() async { await books.release() }
    }
}

/// Runs a function, and turns its error into an enrollment's error.
private func counting<Value: Sendable>(
    in directory: StateDirectory,
    _ body: () async throws(AuthenticationError) -> Value
) async throws(EnrollmentError) -> Value {
    do throws(AuthenticationError) {
        return try await body()
    } catch {
        switch error.code {
        case .biometryLockout: throw EnrollmentError(.lockedOut, cause: error.cause)
        case .readerInUse:
            throw EnrollmentError(.reader(ReaderError(.inUse, operation: "enroll", cause: error.cause)))
        case .appCancel: throw EnrollmentError(.reader(ReaderError(.cancelled, operation: "enroll")))
        default:
            throw EnrollmentError(
                .store(
                    StateError(
                        .failed,
                        path: directory.path,
                        message: error.message,
                        recovery: error.recovery,
                        cause: error.cause
                    )
                )
            )
        }
    }
}
