// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import WhorlFingerprint
internal import WhorlService

/// The presenter for a verification, which sends statuses to the client and does not accept anything from it.
struct VerificationReporter: PromptPresenter {
    private let report: StatusReport

    init(_ report: StatusReport) { self.report = report }

    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            // The result comes only from the return value of the evaluation.
            switch update {
            case .scan(.retry(let reason)): report.tell(.verifyRetry(reason))
            // The interface has no status for a second finger; this one requests another touch.
            case .anotherFinger: report.tell(.verifyRetry(.removeFinger))
            default: break
            }
        }
        return nil
    }
}

/// Reports the progress of an enrollment to the client.
final class EnrollmentReporter: Sendable {
    private let report: StatusReport
    private let begun: @Sendable () -> Void
    /// Whether the finger is being compared with its new print, which happens with the touch after the last stage.
    private let isConfirming = Mutex(false)

    init(_ report: StatusReport, _ begun: @escaping @Sendable () -> Void) {
        self.report = report
        self.begun = begun
    }

    func tell(_ progress: EnrollmentProgress) {
        switch progress {
        case .began: begun()
        case .scan(.stage): report.tell(.stagePassed)
        case .scan(.retry(let reason)): report.tell(.enrollRetry(reason))
        case .scan(.touch), .scan(.finger), .scan(.alike): break
        // No client of this interface requests guidance or a test of the reader.
        case .area, .again, .tested, .exercising: break
        case .confirming:
            let isAgain = isConfirming.withLock { isConfirming in
                defer { isConfirming = true }
                return isConfirming
            }
            if isAgain { report.tell(.enrollRetry(.general)) }
        }
    }
}

extension FprintStatus {
    /// Returns the status for a verification that ended without a match.
    ///
    /// A lockout is reported as an error instead of a failed attempt, so that clients immediately use the password.
    static func verify(_ error: ServiceError) -> FprintStatus {
        switch error.code {
        case .authenticationFailed, .appCancel, .userCancel, .userFallback: .noMatch
        case .biometryDisconnected: .verifyDisconnected
        default: .verifyFailure
        }
    }

    /// Returns the status for a failed enrollment.
    static func enroll(_ error: ServiceError) -> FprintStatus {
        switch error.code {
        case .fingerExists, .duplicate: .duplicate
        case .inconsistent, .tooManyRetries, .timedOut, .appCancel: .failed
        case .biometryDisconnected, .biometryNotAvailable, .readerTooHot: .enrollDisconnected
        case .readerFull: .readerFull
        default: .enrollFailure
        }
    }
}

extension ServiceError {
    /// Whether the reader may still contain a print that was deleted here.
    var isOfReader: Bool {
        category == .readerUnavailable || code == .printNotFound
    }
}
