// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import WhorlStateStore
package import WhorlService

/// The facts that were gathered before the decision, and the parts that were opened to gather them.
struct Survey: Sendable {
    var preconditions = Preconditions()
    /// The database; `nil` unless data was stored and the database is sound.
    var database: StateDatabase?
    /// The set of enrolled fingers; `nil` when nothing was ever stored or it cannot be trusted.
    var fingers: EnrollmentSnapshot?
    /// The state of the enrollment that the program compares; `nil` when no finger is enrolled or the set cannot be
    /// trusted.
    var enrollment: EnrollmentState?
    var reader: (any FingerprintReader)?
    var readerInfo: ReaderInfo?

    /// Whether at least one reader is connected.
    var hasReader: Bool {
        switch preconditions.reader {
        case .connected: true
        case .none: false
        case .unclear(let error): error.code == .readerNotChosen
        }
    }
}

extension AuthenticationEngine {
    /// Gathers the facts that a decision needs, and changes nothing.
    ///
    /// - Parameters:
    ///   - application: The program that asks.
    ///   - strengths: The strengths that are demanded of a touch.
    /// - Returns: The facts.
    func survey(for application: ApplicationID, demanding strengths: [TouchStrength]) async -> Survey {
        var survey = Survey()
        await find(&survey)
        await askPasscode(&survey)
        await readState(&survey, application)
        survey.preconditions.weakness = survey.weakness(for: strengths)
        survey.preconditions.demandsPasscode = strengths.contains(where: \.hasPasscode)
        return survey
    }

    /// Returns the reason why no finger can be asked for of somebody of whom nothing was ever stored.
    package func obstacleWithoutState() async -> ServiceError? {
        var survey = Survey()
        await find(&survey)
        return survey.preconditions.biometryObstacle
    }

    private func find(_ survey: inout Survey) async {
        do throws(ServiceError) {
            survey.reader = try await reader()
            survey.readerInfo = await survey.reader?.info
            survey.preconditions.reader = survey.reader == nil ? .none : .connected
        } catch {
            survey.preconditions.reader = .unclear(error)
        }
    }

    private func askPasscode(_ survey: inout Survey) async {
        do throws(ServiceError) {
            survey.preconditions.passcode = try await passcode.isSet ? .set : .notSet
        } catch {
            survey.preconditions.passcode = .unknown(error)
        }
    }

    /// Reads the profile's data from the database in one transaction.
    private func readState(_ survey: inout Survey, _ application: ApplicationID) async {
        let lockEndsByTime = survey.preconditions.lockEndsByTime
        // Without a reader, no lock is reported: the error that no reader is connected takes precedence.
        let readers = survey.readerInfo.map { ReaderClass($0.kind) } ?? .real
        do throws(ServiceError) {
            guard let store = try await state.existingStore() else { return }
            // Set it even if the set of fingers turns out not to be sound, since that is recorded.
            survey.database = store.database
            let (fingers, rest) = try await store.snapshot(of: profile) { [profile, rules, time] db in
                let ledger = AttemptLedger(profile: profile, readers: readers, rules: rules)
                let record = try ledger.record(in: db)
                return (
                    isOptedOut: try OptOuts(profile: profile).contains(application, in: db),
                    lock: record.lock(at: time.now(), endsByTime: lockEndsByTime)
                )
            }
            (survey.preconditions.isOptedOut, survey.preconditions.lock) = rest
            survey.preconditions.fingers = fingers.fingers.usability(for: survey.readerInfo?.id)
            survey.enrollment = fingers.state(for: application.rawValue)
            survey.fingers = fingers
        } catch {
            guard error.isDistrust else {
                survey.database = nil
                survey.preconditions.storeFailure = error
                return
            }
            survey.preconditions.enrollmentFault = error
        }
    }
}

extension Survey {
    /// Returns the reason why no touch of this reader, and of the fingers that are enrolled for it, can have a strength;
    /// `nil` when one can.
    fileprivate func weakness(for strengths: [TouchStrength]) -> ServiceError? {
        guard let readerInfo, let fingers else { return nil }
        let enrolled = Set(fingers.fingers.filter { $0.reader == readerInfo.id }.map(\.finger)).count
        return strengths.lazy.compactMap { strength in
            if let wanted = strength.reader, wanted != readerInfo.id { return .anotherReaderDemanded(wanted) }
            if strength.isMatchedOnChip, readerInfo.storage != .reader { return .matchOnChipDemanded }
            if strength.hasTwoFingers, enrolled < 2 { return .twoFingersDemanded }
            return nil
        }.first
    }
}

extension ServiceError {
    fileprivate static func anotherReaderDemanded(_ reader: ReaderID) -> ServiceError {
        ServiceError(
            .biometryDisconnected,
            message: "This requires another reader.",
            recovery: "Connect that reader.",
            cause: "the touch must be at \(reader)"
        )
    }

    fileprivate static var matchOnChipDemanded: ServiceError {
        ServiceError(
            .readerUnsupported,
            message: "This requires a reader that matches on its chip.",
            recovery: "Connect one; `whorl devices` shows which readers match on the chip.",
            cause: "match on chip is demanded"
        )
    }

    fileprivate static var twoFingersDemanded: ServiceError {
        ServiceError(
            .biometryNotEnrolled,
            message: "Two different fingers are required.",
            recovery: "Enroll another finger with `whorl enroll`.",
            cause: "fewer than two are enrolled for this reader"
        )
    }
}

extension [EnrolledFinger] {
    fileprivate func usability(for reader: ReaderID?) -> Preconditions.Fingers {
        if isEmpty { return .none }
        return contains { $0.reader == reader } ? .usable : .elsewhere
    }
}
