// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import WhorlFingerprint

/// A status that clients are told about the enrollment or the verification that is running.
package struct FprintStatus: Sendable, Hashable {
    /// The word, with `verify-` or `enroll-` before it.
    package let word: String
    /// Whether the operation has ended.
    package let isDone: Bool

    package init(_ word: String, done: Bool) {
        self.word = word
        isDone = done
    }

    package static let match = FprintStatus("verify-match", done: true)
    package static let noMatch = FprintStatus("verify-no-match", done: true)
    package static let stagePassed = FprintStatus("enroll-stage-passed", done: false)
    package static let completed = FprintStatus("enroll-completed", done: true)
    package static let failed = FprintStatus("enroll-failed", done: true)
    package static let duplicate = FprintStatus("enroll-duplicate", done: true)

    package static let verifyDisconnected = FprintStatus("verify-disconnected", done: true)
    package static let enrollDisconnected = FprintStatus("enroll-disconnected", done: true)
    package static let verifyFailure = FprintStatus("verify-unknown-error", done: true)
    package static let enrollFailure = FprintStatus("enroll-unknown-error", done: true)
    package static let readerFull = FprintStatus("enroll-data-full", done: true)

    /// Returns the status of a verification whose touch could not be read.
    package static func verifyRetry(_ reason: ScanRetry) -> FprintStatus {
        FprintStatus("verify-\(word(of: reason))", done: false)
    }

    /// Returns the status of an enrollment whose touch could not be read.
    package static func enrollRetry(_ reason: ScanRetry) -> FprintStatus {
        FprintStatus("enroll-\(word(of: reason))", done: false)
    }

    private static func word(of retry: ScanRetry) -> String {
        switch retry {
        case .general: "retry-scan"
        case .tooShort: "swipe-too-short"
        case .centerFinger: "finger-not-centered"
        case .removeFinger: "remove-and-retry"
        case .tooFast: "too-fast"
        }
    }
}

/// The statuses of one enrollment or verification, as clients hear them: after the one that ends it, none is sent.
package final class StatusReport: Sendable {
    private struct State {
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (FprintStatus) -> Void

    /// Makes a report that sends statuses with a function.
    init(_ send: @escaping @Sendable (FprintStatus) -> Void) { self.send = send }

    /// Sends a status, unless the one that ends the operation was sent.
    package func tell(_ status: FprintStatus) {
        let isLate = state.withLock { state in
            defer { state.hasEnded = state.hasEnded || status.isDone }
            return state.hasEnded
        }
        if !isLate { send(status) }
    }

    /// Takes in that the client has ended the operation; what the reader says from now on decides nothing.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether the status that ends the operation was sent.
    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Whether the client has ended the operation.
    package var isCancelled: Bool { state.withLock(\.isCancelled) }
}
