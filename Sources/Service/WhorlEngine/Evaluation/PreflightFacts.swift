// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import WhorlStateStore
package import WhorlService

/// The facts that are collected before the decision, and the parts that were opened to collect them.
struct PreflightFacts: Sendable {
    var preconditions = Preconditions()
    /// The database; `nil` if no data was stored or the database is damaged.
    var database: StateDatabase?
    /// The set of enrolled fingers; `nil` if nothing was ever stored or the set cannot be trusted.
    var fingers: EnrollmentSnapshot?
    /// The state of the enrollment, which the program can compare; `nil` if no finger is enrolled or the set cannot be
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
    /// Collects the facts that a decision needs, without changing anything.
    ///
    /// - Parameters:
    ///   - application: The requesting program.
    ///   - strengths: The strengths that are required for a touch.
    /// - Returns: The facts.
    func preflightFacts(for application: ApplicationID, demanding strengths: [TouchStrength]) async
        -> PreflightFacts
    {
        var facts = PreflightFacts()
        await find(&facts)
        await askPasscode(&facts)
        await readState(&facts, application)
        facts.preconditions.weakness = facts.weakness(for: strengths)
        facts.preconditions.demandsPasscode = strengths.contains(where: \.hasPasscode)
        return facts
    }

    /// Returns the reason why a user without stored data cannot use a finger.
    package func obstacleWithoutState() async -> ServiceError? {
        var facts = PreflightFacts()
        await find(&facts)
        return facts.preconditions.biometryObstacle
    }

    private func find(_ facts: inout PreflightFacts) async {
        do throws(ServiceError) {
            facts.reader = try await reader()
            facts.readerInfo = await facts.reader?.info
            facts.preconditions.reader = facts.reader == nil ? .none : .connected
        } catch {
            facts.preconditions.reader = .unclear(error)
        }
    }

    private func askPasscode(_ facts: inout PreflightFacts) async {
        do throws(ServiceError) {
            facts.preconditions.passcode = try await passcode.isSet ? .set : .notSet
        } catch {
            facts.preconditions.passcode = .unknown(error)
        }
    }

    /// Reads the profile's data from the database in a single transaction.
    private func readState(_ facts: inout PreflightFacts, _ application: ApplicationID) async {
        let lockEndsByTime = facts.preconditions.lockEndsByTime
        // Without a reader, no lock is reported: the error that no reader is connected takes precedence.
        let readers = facts.readerInfo.map { ReaderClass($0.kind) } ?? .real
        do throws(ServiceError) {
            guard let store = try await state.existingStore() else { return }
            // Set this even if the set of fingers turns out to be invalid, because that is recorded.
            facts.database = store.database
            let (fingers, rest) = try await store.snapshot(of: profile) { [profile, rules, time] db in
                let ledger = AttemptLedger(profile: profile, readers: readers, rules: rules)
                let record = try ledger.record(in: db)
                return (
                    isOptedOut: try OptOuts(profile: profile).contains(application, in: db),
                    lock: record.lock(at: time.now(), endsByTime: lockEndsByTime)
                )
            }
            (facts.preconditions.isOptedOut, facts.preconditions.lock) = rest
            facts.preconditions.fingers = fingers.fingers.usability(for: facts.readerInfo?.id)
            facts.enrollment = fingers.state(for: application.rawValue)
            facts.fingers = fingers
        } catch {
            guard error.isDistrust else {
                facts.database = nil
                facts.preconditions.storeFailure = error
                return
            }
            facts.preconditions.enrollmentFault = error
        }
    }
}

extension PreflightFacts {
    /// Returns the reason why a touch of this reader cannot reach the required strengths with the fingers enrolled for
    /// it; `nil` if it can.
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
            cause: "the touch must be on \(reader)"
        )
    }

    fileprivate static var matchOnChipDemanded: ServiceError {
        ServiceError(
            .readerUnsupported,
            message: "This requires a reader that matches on its chip.",
            recovery: "Connect one; `whorl devices` shows which readers match on the chip.",
            cause: "matching on the chip is required"
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
