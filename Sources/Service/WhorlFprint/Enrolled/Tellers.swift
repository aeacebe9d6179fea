// SPDX-License-Identifier: Apache-2.0

internal import LibfprintReader
internal import Synchronization
internal import WhorlFingerprint
internal import WhorlService

/// The presenter of a verification: the client shows what it is told, and nothing is taken from it.
struct TouchTeller: PromptPresenter {
    private let report: StatusReport

    init(_ report: StatusReport) { self.report = report }

    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            // The result is the return value of the evaluation alone.
            switch update {
            case .scan(.retry(let reason)): report.tell(.verify(.retry(reason)))
            // The interface has no word for a second finger; this one asks for another touch.
            case .anotherFinger: report.tell(.verify(.retry(.removeFinger)))
            default: break
            }
        }
        return nil
    }
}

/// Tells the client of an enrollment how far it is.
final class StageTeller: Sendable {
    private let report: StatusReport
    private let begun: @Sendable () -> Void
    /// Whether the finger is compared with its new print, by the touch after the last stage.
    private let isConfirming = Mutex(false)

    init(_ report: StatusReport, _ begun: @escaping @Sendable () -> Void) {
        self.report = report
        self.begun = begun
    }

    func tell(_ progress: EnrollmentProgress) {
        switch progress {
        case .began: begun()
        case .scan(.stage): report.tell(.stagePassed)
        case .scan(.retry(let reason)): report.tell(.enroll(.retry(reason)))
        case .scan(.touch), .scan(.finger), .scan(.alike): break
        // No client of this interface asks for guidance, or for a trial of the reader.
        case .area, .again, .tested, .exercising: break
        case .confirming:
            let isAgain = isConfirming.withLock { isConfirming in
                defer { isConfirming = true }
                return isConfirming
            }
            if isAgain { report.tell(.enroll(.retry(.general))) }
        }
    }
}

extension FprintStatus {
    /// Returns the status of a verification that ended without a match.
    ///
    /// A lockout is an error and no failed try: clients then take the password at once.
    static func verify(_ error: AuthenticationError) -> FprintStatus {
        switch error.code {
        case .authenticationFailed, .appCancel, .userCancel, .userFallback: .noMatch
        case .biometryDisconnected: .verify(.unplugged)
        case .systemCancel, .passcodeNotSet, .biometryNotAvailable, .biometryOptedOut, .biometryNotEnrolled,
            .biometryLockout, .invalidContext, .notInteractive, .reasonMissing, .enrollmentTampered,
            .enrollmentRolledBack, .readerInUse, .storeFailed, .chipUnavailable, .readerNotChosen:
            .verify(.other)
        }
    }

    /// Returns the status of an enrollment that failed.
    static func enroll(_ error: FingerChangeError) -> FprintStatus {
        guard case .fingers(let error) = error else { return .enroll(.other) }
        return switch error.code {
        case .fingerExists, .duplicate: .duplicate
        case .inconsistent, .tooManyRetries, .timedOut: .failed
        case .reader(let failure): .enroll(DirectFailure.Kind(failure.code))
        case .enrollmentTampered, .enrollmentRolledBack, .readerWasOpen, .accountRenamed, .ownerNeeded,
            .changedMeanwhile,
            .lockedOut,
            .noSuchFinger, .readerNotConnected, .store:
            .enroll(.other)
        }
    }
}

extension DirectFailure.Kind {
    /// The kind of an enrollment's failure, as far as clients tell them apart.
    fileprivate init(_ code: ReaderError.Code) {
        switch code {
        case .unplugged, .notFound: self = .unplugged
        case .tooHot: self = .tooHot
        case .storageFull: self = .storageFull
        case .duplicate: self = .duplicate
        case .cancelled: self = .cancelled
        case .busy, .inUse, .permissionDenied, .notOpen, .suspended, .unsupported, .lockUnusable,
            .printNotFound, .templateInvalid, .untrustworthy, .malfunction:
            self = .other
        }
    }
}

extension FingerChangeError {
    /// Whether the reader kept a print that is gone here.
    var isOfReader: Bool {
        guard case .fingers(let error) = self, case .reader = error.code else { return false }
        return true
    }
}
