// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The touches of one request, from the first touch to the answer.
///
/// Each touch is reserved as an attempt before its scan, and counts as a failure if it does not match. However the loop
/// ends, it leaves a settled attempt or a reservation that the next request counts as a failure.
struct TouchLoop: Sendable {
    /// The records to which attempts are written.
    let bookkeeping: EvaluationBookkeeping
    /// The number of touches that may fail to match in this loop.
    let allowed: Int

    /// The result of recording a match.
    enum MatchOutcome<Success> {
        /// The match was recorded.
        case success(Success)
        /// Another touch is required, and the reservation is dropped.
        case another
    }

    private enum Reading {
        case match(PrintID, updated: Template?)
        case noMatch
        case none(ServiceError)
    }

    /// Waits for touches until a match has been recorded, the attempts are used up, or an error ends the loop.
    ///
    /// - Parameters:
    ///   - entry: The prompt that shows the progress.
    ///   - touch: Waits for one touch.
    ///   - settle: Records a match. If it throws, it must drop the reservation itself, and the loop ends.
    /// - Returns: The recorded success.
    /// - Throws: `biometryLockout`, `authenticationFailed`, or the errors of the reader and of `settle`.
    func firstSuccess<Success>(
        _ entry: PromptEntry,
        touch: () async -> Touch,
        settle: (PrintID, Template?) async throws(ServiceError) -> MatchOutcome<Success>
    ) async throws(ServiceError) -> Success {
        var failures = 0
        var retriesLeft = ScanLoop.retries
        while retriesLeft > 0 {
            try await bookkeeping.reserve()
            switch await read(touch, &retriesLeft) {
            case .match(let print, let updated):
                switch try await settle(print, updated) {
                case .success(let success): return success
                case .another: retriesLeft -= 1
                }
            case .noMatch:
                failures += 1
                try await charge(failures, entry)
            case .none(let error):
                await bookkeeping.release()
                throw error
            }
        }
        throw .retryStorm
    }

    /// Waits until a touch is readable.
    ///
    /// A retry keeps the current reservation. It does not count as a failure, unless the process is killed during the
    /// retry.
    private func read(_ touch: () async -> Touch, _ retriesLeft: inout Int) async -> Reading {
        while retriesLeft > 0 {
            switch await touch() {
            case .answered(.match(let print, let updated)): return .match(print, updated: updated)
            case .answered(.noMatch): return .noMatch
            case .answered(.retry): retriesLeft -= 1
            case .timedOut: return .none(ServiceError(.timedOut))
            case .failed(let error): return .none(await bookkeeping.meaning(of: error))
            case .obstructed(let error): return .none(error)
            }
        }
        return .none(.retryStorm)
    }

    private func charge(_ failures: Int, _ entry: PromptEntry) async throws(ServiceError) {
        let (remaining, end) = try await bookkeeping.chargeMiss()
        entry.send(.noMatch(remaining: min(allowed - failures, remaining)))
        if let end { throw end }
        guard failures < allowed else { throw ServiceError(.authenticationFailed) }
    }
}

extension EvaluationBookkeeping {
    /// Returns the error to which a reader's error corresponds, and logs an error that should be impossible.
    func meaning(of error: ReaderError) async -> ServiceError {
        if error.code == .untrustworthy { await logUntrustworthy(error.description) }
        return ServiceError(duringScan: error)
    }

    /// Drops the reservation for a match with a print that was not given to the reader, and returns the error.
    func refuse(unknown print: PrintID) async -> ServiceError {
        await release()
        return await meaning(
            of: ReaderError(
                .untrustworthy,
                operation: "identify",
                cause: "a match with \(print), which it was not given"
            )
        )
    }
}

extension ServiceError {
    fileprivate static let retryStorm = ServiceError(
        .systemCancel,
        message: "The finger could not be read.",
        recovery: "Clean the sensor and your finger, then try again.",
        cause: "the reader returned only retries, \(ScanLoop.retries) of them"
    )
}
