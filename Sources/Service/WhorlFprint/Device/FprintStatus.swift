// SPDX-License-Identifier: Apache-2.0

package import LibfprintReader
internal import Synchronization
internal import WhorlFingerprint

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

    /// Returns the status of a verification that a failure has ended or interrupted.
    package static func verify(_ kind: DirectFailure.Kind) -> FprintStatus {
        switch kind {
        case .retry(let reason): FprintStatus("verify-\(word(of: reason))", done: false)
        case .protocolBroken, .unplugged, .tooHot: FprintStatus("verify-disconnected", done: true)
        case .printNotFound, .cancelled: .noMatch
        case .storageFull, .duplicate, .busy, .other: FprintStatus("verify-unknown-error", done: true)
        }
    }

    /// Returns the status of an enrollment that a failure has ended or interrupted.
    package static func enroll(_ kind: DirectFailure.Kind) -> FprintStatus {
        switch kind {
        case .retry(let reason): FprintStatus("enroll-\(word(of: reason))", done: false)
        case .protocolBroken, .unplugged, .tooHot: FprintStatus("enroll-disconnected", done: true)
        case .storageFull: FprintStatus("enroll-data-full", done: true)
        case .duplicate: .duplicate
        case .cancelled: .failed
        case .printNotFound, .busy, .other: FprintStatus("enroll-unknown-error", done: true)
        }
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
final class StatusReport: Sendable {
    private struct State {
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (FprintStatus) -> Void

    /// Makes a report that sends statuses with a function.
    init(_ send: @escaping @Sendable (FprintStatus) -> Void) { self.send = send }

    /// Sends a status, unless the one that ends the operation was sent.
    func tell(_ status: FprintStatus) {
        let isLate = state.withLock { state in
            defer { state.hasEnded = state.hasEnded || status.isDone }
            return state.hasEnded
        }
        if !isLate { send(status) }
    }

    /// Takes in that the client has ended the operation; what the reader says from now on decides nothing.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether the status that ends the operation was sent.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Whether the client has ended the operation.
    var isCancelled: Bool { state.withLock(\.isCancelled) }
}
