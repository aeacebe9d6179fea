// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import WhorlFingerprint

/// A status of the running enrollment or verification, for clients.
package struct FprintStatus: Sendable, Hashable {
    /// The status name, with the prefix `verify-` or `enroll-`.
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

    /// Returns the status of a verification after an unreadable touch.
    package static func verifyRetry(_ reason: ScanRetry) -> FprintStatus {
        FprintStatus("verify-\(word(of: reason))", done: false)
    }

    /// Returns the status of an enrollment after an unreadable touch.
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

/// The statuses of one enrollment or verification; after the final status, no other is sent.
package final class StatusReport: Sendable {
    private struct State {
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (FprintStatus) -> Void

    /// Creates a report that sends statuses with a function.
    init(_ send: @escaping @Sendable (FprintStatus) -> Void) { self.send = send }

    /// Sends a status, unless the final one was already sent.
    package func tell(_ status: FprintStatus) {
        let isLate = state.withLock { state in
            defer { state.hasEnded = state.hasEnded || status.isDone }
            return state.hasEnded
        }
        if !isLate { send(status) }
    }

    /// Records that the client has stopped the operation; later results of the reader are ignored.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether the final status was sent.
    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Whether the client has stopped the operation.
    package var isCancelled: Bool { state.withLock(\.isCancelled) }
}
