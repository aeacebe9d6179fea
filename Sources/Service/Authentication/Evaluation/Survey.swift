// SPDX-License-Identifier: Apache-2.0

import Enrollment
import Fingerprint
import StateStore

/// What was found out before anything was decided, and what was opened for it.
struct Survey: Sendable {
    var standing = Standing()
    /// The database, when something was ever stored and it is sound.
    var database: StateDatabase?
    /// The set of enrolled fingers; `nil` when nothing was ever stored or it cannot be trusted.
    var fingers: EnrollmentSnapshot?
    /// What the program compares; `nil` when no finger is enrolled or the set cannot be trusted.
    var enrollment: EnrollmentState?
    var reader: (any FingerprintReader)?
    var readerInfo: ReaderInfo?

    /// Whether there is a reader, be it one of several.
    var hasReader: Bool {
        switch standing.reader {
        case .connected: true
        case .none: false
        case .unclear(let error): error.code == .readerNotChosen
        }
    }
}

extension AuthenticationEngine {
    /// Looks at everything that a decision needs, and changes nothing.
    func survey(for application: ApplicationID) async -> Survey {
        var survey = Survey()
        await find(&survey)
        await askPasscode(&survey)
        await readState(&survey, application)
        return survey
    }

    private func find(_ survey: inout Survey) async {
        do throws(AuthenticationError) {
            survey.reader = try await reader()
            survey.readerInfo = await survey.reader?.info
            survey.standing.reader = survey.reader == nil ? .none : .connected
        } catch {
            survey.standing.reader = .unclear(error)
        }
    }

    private func askPasscode(_ survey: inout Survey) async {
        do throws(AuthenticationError) {
            survey.standing.passcode = try await passcode.isSet ? .set : .notSet
        } catch {
            survey.standing.passcode = .unknown(error)
        }
    }

    /// Reads in one look at the database what it says of the profile.
    private func readState(_ survey: inout Survey, _ application: ApplicationID) async {
        let lockEndsByTime = survey.standing.lockEndsByTime
        // Without a reader nobody is told of a lock: that none is connected comes first.
        let readers = survey.readerInfo.map { ReaderClass($0.kind) } ?? .real
        do throws(EnrollmentError) {
            guard let database = try await existingDatabase() else { return }
            let store = EnrollmentStore(database: database, generations: state.generations)
            // Also where the set turns out not to be sound: that is written down.
            survey.database = database
            let (fingers, rest) = try await store.snapshot(of: profile) { [profile, time] db in
                let record = try AttemptLedger(profile: profile, readers: readers).record(in: db)
                return (
                    isOptedOut: try OptOuts(profile: profile).contains(application, in: db),
                    lock: record.lock(at: time.now(), endsByTime: lockEndsByTime)
                )
            }
            (survey.standing.isOptedOut, survey.standing.lock) = rest
            survey.standing.fingers = fingers.fingers.standing(for: survey.readerInfo?.id)
            survey.enrollment = fingers.state(for: application.rawValue)
            survey.fingers = fingers
        } catch {
            switch error.code {
            case .enrollmentTampered, .enrollmentRolledBack:
                survey.standing.enrollmentFault = AuthenticationError(error)
            case .store:
                survey.database = nil
                survey.standing.storeFailure = AuthenticationError(error)
            // None of these comes from looking fingers up; none of them is a success.
            case .fingerExists, .duplicate, .inconsistent, .tooManyRetries, .timedOut, .noSuchFinger,
                .readerNotConnected, .reader, .ownerNeeded, .changedMeanwhile, .lockedOut:
                survey.standing.storeFailure = AuthenticationError(error)
            }
        }
    }

    private func existingDatabase() async throws(EnrollmentError) -> StateDatabase? {
        do throws(StateError) {
            return try await state.existing()
        } catch {
            throw EnrollmentError(.store(error))
        }
    }
}

extension [EnrolledFinger] {
    fileprivate func standing(for reader: ReaderID?) -> Standing.Fingers {
        if isEmpty { return .none }
        return contains { $0.reader == reader } ? .usable : .elsewhere
    }
}
