// SPDX-License-Identifier: Apache-2.0

import Enrollment
import Fingerprint
import StateStore

/// What was found out before anything was decided, and what was opened for it.
struct Survey: Sendable {
    var standing = Standing()
    /// The database, when something was ever stored and it is sound.
    var database: StateDatabase?
    /// The set of enrolled fingers for the program; `nil` when none is enrolled or it cannot be trusted.
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
        do throws(AuthenticationError) {
            try await readState(&survey, application)
        } catch {
            survey.enrollment = nil
            switch error.code {
            case .enrollmentTampered, .enrollmentRolledBack: survey.standing.enrollmentFault = error
            default: survey.standing.storeFailure = error
            }
        }
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

    private func readState(_ survey: inout Survey, _ application: ApplicationID)
        async throws(AuthenticationError)
    {
        let database: StateDatabase
        do throws(StateError) {
            guard let existing = try state.existing() else { return }
            database = existing
            let lockEndsByTime = survey.standing.lockEndsByTime
            // Without a reader nobody is told of a lock: that none is connected comes first.
            let readers = survey.readerInfo.map { ReaderClass($0.kind) } ?? .real
            (survey.standing.isOptedOut, survey.standing.lock) = try await database.read {
                [profile, time] db in
                let record = try AttemptLedger(profile: profile, readers: readers).record(in: db)
                return (
                    try OptOuts(profile: profile).contains(application, in: db),
                    record.lock(at: time.now(), endsByTime: lockEndsByTime)
                )
            }
        } catch {
            throw AuthenticationError(error)
        }
        survey.database = database
        do throws(EnrollmentError) {
            let store = EnrollmentStore(database: database, generations: state.generations)
            let fingers = try await store.fingers(of: profile)
            survey.standing.fingers = fingers.standing(for: survey.readerInfo?.id)
            survey.enrollment = try await store.state(of: profile, application: application.rawValue)
        } catch {
            throw AuthenticationError(error)
        }
    }
}

extension [EnrolledFinger] {
    fileprivate func standing(for reader: ReaderID?) -> Standing.Fingers {
        if isEmpty { return .none }
        return contains { $0.reader == reader } ? .usable : .elsewhere
    }
}
