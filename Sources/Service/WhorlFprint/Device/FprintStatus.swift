// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import WhorlFingerprint

/// A status of the enrollment or verification in progress, which is sent to clients.
package struct FprintStatus: Sendable, Hashable {
    /// The name of the status, with the prefix `verify-` or `enroll-`.
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

    /// Returns a verification's status after an unreadable touch.
    package static func verifyRetry(_ reason: ScanRetry) -> FprintStatus {
        FprintStatus("verify-\(word(of: reason))", done: false)
    }

    /// Returns an enrollment's status after an unreadable touch.
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

/// Sends the statuses of one enrollment or verification; nothing is sent after the final status.
package final class StatusReport: Sendable {
    private struct State {
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (FprintStatus) -> Void

    /// Creates a report that uses a function to send statuses.
    init(_ send: @escaping @Sendable (FprintStatus) -> Void) { self.send = send }

    /// Sends a status unless the final one has already been sent.
    package func tell(_ status: FprintStatus) {
        let isLate = state.withLock { state in
            defer { state.hasEnded = state.hasEnded || status.isDone }
            return state.hasEnded
        }
        if !isLate { send(status) }
    }

    /// Records that the client has stopped the operation; later results from the reader are ignored.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether the final status has been sent.
    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Whether the client has stopped the operation.
    package var isCancelled: Bool { state.withLock(\.isCancelled) }
}
