// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlSecretMemory
import WhorlStateStore
package import WhorlService
import WhorlSupport

/// The passcodes of one evaluation, from the first to the correct one.
///
/// It does not depend on fingers. The authority limits how often a wrong passcode can be tried.
struct PasscodeLoop: Sendable {
    /// The authority that compares passcodes.
    let authority: any PasscodeAuthority
    /// The prompt's entry, which supplies the passcodes and receives the updates.
    let entry: PromptEntry
    /// The records to which the result is written.
    let bookkeeping: EvaluationBookkeeping
    /// The decision on which method of the evaluation succeeded first.
    let decision: Decision
    /// The program's digest of the enrolled fingers, which becomes part of the result.
    let domainState: Data?

    private enum Step {
        case next(ServiceError)
        case verified
    }

    /// Compares passcodes until a correct one has been recorded.
    ///
    /// - Throws: `appCancel` if the task was cancelled or a finger was faster; `passcodeNotSet` if the passcode was
    ///   removed; `authenticationFailed` if the prompt ended after a wrong passcode; `systemCancel` if it ended before
    ///   one was entered; `storeFailed` or the authority's errors.
    func firstSuccess() async throws(ServiceError) -> Evaluation {
        var isVerified = false
        var last = ServiceError.noPasscodeCame
        try await entry.each { box async throws(ServiceError) in
            entry.send(.checking)
            switch try await verdict(on: box) {
            case .verified:
                isVerified = true
                return true
            case .next(let error):
                last = error
                return false
            }
        }
        guard !Task.isCancelled else { throw ServiceError(.appCancel) }
        guard isVerified else { throw last }
        try await bookkeeping.settlePasscode(decision)
        return Evaluation(
            method: .passcode,
            finger: nil,
            domainState: domainState,
            isReused: false,
            readerKind: nil
        )
    }

    private func verdict(on box: SecretBox) async throws(ServiceError) -> Step {
        switch try await authority.verify(box.bytes) {
        case .verified:
            return .verified
        case .wrong(let left):
            await bookkeeping.logPasscode("wrong")
            entry.send(.wrongPasscode(triesLeft: left))
            return .next(.wrongPasscode)
        case .throttled(let wait):
            await bookkeeping.logPasscode("throttled")
            entry.send(.throttled(for: wait))
            return .next(.throttled(wait))
        case .notSet:
            throw ServiceError(.passcodeNotSet)
        }
    }
}

extension ServiceError {
    fileprivate static let noPasscodeCame = ServiceError(
        .systemCancel,
        message: "No passcode entered.",
        recovery: "Try again, and enter the passcode.",
        cause: "the prompt ended before a passcode was entered"
    )

    fileprivate static let wrongPasscode = ServiceError(
        .authenticationFailed,
        message: "Wrong passcode.",
        recovery: "Try again with the correct one."
    )

    fileprivate static func throttled(_ wait: Duration) -> ServiceError {
        ServiceError(
            .authenticationFailed,
            message: "Too many wrong passcodes.",
            recovery: "Wait \(wait.spoken), then try again.",
            cause: "for \(wait.components.seconds) s"
        )
    }
}

extension EvaluationBookkeeping {
    /// Ends the lockout of fingers and logs the success after a correct passcode, both together or not at all.
    ///
    /// It does not open a reuse window, because that is only for fingers, and does not change an open one.
    ///
    /// - Throws: `appCancel` if a finger was faster, or `storeFailed`.
    package func settlePasscode(_ decision: Decision) async throws(ServiceError) {
        let now = time.now()
        let isFirst = try await first(.passcode, decision) { db in
            guard decision.take(.passcode) else { return false }
            if try BiometricLock.lift(of: profile, in: db) {
                try append(.passcode, "unlocked", at: now, in: db)
            }
            try append(.evaluation, "passcode", detail: reason, at: now, in: db)
            return true
        }
        guard isFirst else { throw ServiceError(.appCancel) }
    }

    /// Logs a passcode that was wrong or could not be compared.
    ///
    /// If the log cannot be written, nothing else changes, because the ``PasscodeAuthority`` counts wrong passcodes.
    func logPasscode(_ outcome: String) async {
        await logQuietly(.passcode, outcome, detail: reason)
    }
}
