// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlGLib
internal import WhorlLibfprint
package import WhorlFingerprint
internal import WhorlService
package import WhorlSystem

/// Returns the fingers that the user with a name has on a reader; `nil` if the user does not exist.
package typealias FingersOfAccount = @Sendable (String, any FingerprintReader) -> AccountFingers?

/// The work on the accounts' fingers. Attempts are counted, prints are sealed, and the set of fingers changes with each
/// finger.
///
/// The reader is opened for each touch instead of for a claim, so that other programs can prompt for a finger until a
/// client starts an operation.
actor EnrolledWork: DeviceWork {
    nonisolated let reader: LibfprintReader
    private let accounts: FingersOfAccount
    /// Writes a sentence to the log.
    private let log: @Sendable (String) -> Void

    init(
        _ reader: LibfprintReader,
        accounts: @escaping FingersOfAccount,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.reader = reader
        self.accounts = accounts
        self.log = log
    }

    /// The executor of the GLib thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// The number of libfprint's stages, plus one for the touch that confirms them.
    nonisolated var stages: Int { reader.assumeIsolated { $0.info }.enrollStages + 1 }

    var isBusyWhileDeleting: Bool { true }

    func open() {}

    func close() {}

    func enrolledFingers(of user: String) async throws(FprintError) -> [Finger] {
        guard let account = accounts(user, reader) else { return [] }
        return try await enrolled(account).map(\.finger)
    }

    private func enrolled(_ account: AccountFingers) async throws(FprintError) -> [EnrolledFinger] {
        do throws(ServiceError) {
            return try await account.enrolled()
        } catch {
            log("Cannot read the enrolled fingers: \(error)")
            throw .internal(error.message)
        }
    }

    func deletableFingers(of user: String) async throws(FprintError) -> [Finger] {
        try await enrolledFingers(of: user)
    }

    func verification(of name: String, for user: String) async throws(FprintError) -> (told: String, Scan) {
        guard let account = accounts(user, reader) else { throw .noEnrolledPrints }
        let finger = try finger(Finger(rawValue: name), among: await enrolled(account))
        return (finger?.rawValue ?? "any", { await self.verify(finger, account, $0) })
    }

    /// Returns the finger to compare with, which is reported to the client; `nil` for all fingers.
    ///
    /// With a reader that cannot search its prints, this is the finger that matched last.
    private func finger(
        _ wanted: Finger?,
        among enrolled: [EnrolledFinger]
    ) throws(FprintError) -> Finger? {
        let known = enrolled.filter { wanted == nil || $0.finger == wanted }
        guard let latest = known.max(by: { $0.lastUse < $1.lastUse }) else { throw .noEnrolledPrints }
        let searches = reader.assumeIsolated { $0.info.features.contains(.identify) }
        return known.count > 1 && searches ? nil : latest.finger
    }

    private func verify(_ finger: Finger?, _ account: AccountFingers, _ report: StatusReport) async {
        while true {
            do throws(ServiceError) {
                try await account.verify(finger, VerificationReporter(report))
                return report.tell(.match)
            } catch {
                // A client waits as long as it likes. Any other error ends the operation.
                if error.code == .timedOut, !Task.isCancelled { continue }
                let status = Task.isCancelled ? .noMatch : FprintStatus.verify(error)
                if status != .noMatch { log("A finger was skipped: \(error.message) \(error.cause)") }
                return report.tell(status)
            }
        }
    }

    func enrollment(
        of finger: Finger,
        for user: String,
        isOthers: Bool,
        _ asking: Asking,
        begun: @escaping @Sendable () -> Void
    ) async throws(FprintError) -> Scan {
        let account = try account(of: user)
        let consent =
            try await isOthers
            ? agreed(toFirst: finger, account, asking) : agreed(to: .add(finger), account, asking)
        return { report in
            // A reader that failed to start has already sent its status.
            defer { begun() }
            let teller = EnrollmentReporter(report, begun)
            do throws(ServiceError) {
                try await account.enroll(finger, consent) { teller.tell($0) }
                report.tell(.completed)
            } catch {
                report.tell(Task.isCancelled ? .failed : .enroll(error))
            }
        }
    }

    func deletion(
        of fingers: [Finger],
        for user: String,
        _ asking: Asking,
        isClaimed: @escaping @Sendable () -> Bool
    ) async throws(FprintError) -> Deletion {
        let account = try account(of: user)
        guard await asking(.changeFingers) else {
            throw .permissionDenied(FprintAction.changeFingers.rawValue)
        }
        return { [log] () async throws(FprintError) in
            do throws(ServiceError) {
                try await account.remove(fingers)
            } catch {
                log("Not all fingers of \(user) were deleted: \(error)")
                throw error.isOfReader ? .printsNotDeletedFromDevice : .printsNotDeleted
            }
        }
    }

    private func account(of user: String) throws(FprintError) -> AccountFingers {
        guard let account = accounts(user, reader) else { throw .permissionDenied("no such user") }
        return account
    }

    /// Returns the consent to another user's first finger, which requires that the user has stored nothing.
    private func agreed(
        toFirst finger: Finger,
        _ account: AccountFingers,
        _ asking: Asking
    ) async throws(FprintError) -> AccountFingers.Consent {
        guard await asking(.enrollOthers) else { throw .permissionDenied(FprintAction.enrollOthers.rawValue) }
        do throws(ServiceError) {
            return try await account.consent(toFirst: finger)
        } catch {
            throw error.code == .ownerNeeded ? .permissionDenied(error.message) : .internal(error.message)
        }
    }

    private func agreed(
        to change: FingerChange,
        _ account: AccountFingers,
        _ asking: Asking
    ) async throws(FprintError) -> AccountFingers.Consent {
        do throws(ServiceError) {
            return try await account.consent(to: change) { isFirst in
                await asking(isFirst ? .enrollFirst : .changeFingers)
            }
        } catch {
            guard error.code == .notPermitted else { throw .internal(error.message) }
            throw .permissionDenied(error.cause)
        }
    }
}

extension EnrolledFinger {
    fileprivate var lastUse: Date { lastMatchedAt ?? enrolledAt }
}
