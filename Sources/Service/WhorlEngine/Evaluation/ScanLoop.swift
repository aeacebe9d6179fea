// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import StateStore
package import WhorlService

/// The touches of one evaluation, from the first to the answer.
package struct ScanLoop: Sendable {
    /// The number of presentations in one evaluation that may fail to match, unless the request has fewer.
    package static let tries = 3
    /// The number of unreadable presentations in one evaluation, which ends the loop for a reader that always answers
    /// "try again".
    package static let retries = 30

    /// A match that is recorded.
    package struct Success: Sendable {
        /// The match.
        package let match: ReusableMatch
        /// A better template, if the reader made one.
        package let updated: Template?
    }

    private enum Reading {
        case match(PrintID, updated: Template?)
        case noMatch
        case none(AuthenticationError)
    }

    /// The source of presentations.
    package let source: TouchSource
    /// The set of enrolled fingers from which the gallery is made.
    package let fingers: EnrollmentSnapshot
    /// The reader that is asked.
    package let reader: ReaderInfo
    /// The records to which tries are written.
    package let books: EvaluationBooks
    /// The decision which method of the evaluation succeeded first.
    package let decision: Decision
    /// The number of presentations that may fail to match here.
    package var allowed = ScanLoop.tries

    /// Asks for touches until one matches, the tries are used up, or an error ends the loop.
    ///
    /// Every way out of it leaves a settled try, or a reservation that the next evaluation charges.
    package func run(_ entry: PromptEntry) async throws(AuthenticationError) -> Success {
        var failures = 0
        var retriesLeft = ScanLoop.retries
        while true {
            try await books.reserve()
            switch await read(entry, &retriesLeft) {
            case .match(let print, let updated):
                return Success(match: try await settle(print), updated: updated)
            case .noMatch:
                failures += 1
                try await charge(failures, entry)
            case .none(let error):
                await books.release()
                throw error
            }
        }
    }

    /// Asks for touches until one can be read.
    ///
    /// A retry keeps the present reservation: it does not count as a failure, but a run that is killed during a retry
    /// does.
    private func read(_ entry: PromptEntry, _ retriesLeft: inout Int) async -> Reading {
        while retriesLeft > 0 {
            switch await source.next(entry) {
            case .answered(.match(let print, let updated)): return .match(print, updated: updated)
            case .answered(.noMatch): return .noMatch
            case .answered(.retry): retriesLeft -= 1
            case .timedOut: return .none(AuthenticationError(.systemCancel))
            case .failed(let error): return .none(await meaning(of: error))
            case .obstructed(let error): return .none(error)
            }
        }
        return .none(.retryStorm)
    }

    private func charge(_ failures: Int, _ entry: PromptEntry) async throws(AuthenticationError) {
        let (remaining, lock) = try await books.charge()
        entry.send(.noMatch(remaining: min(allowed - failures, remaining)))
        if let error = AuthenticationError.lockout(lock) { throw error }
        guard failures < allowed else { throw AuthenticationError(.authenticationFailed) }
    }

    /// Records a match, which makes it a success.
    private func settle(_ print: PrintID) async throws(AuthenticationError) -> ReusableMatch {
        guard source.gallery.contains(where: { $0.id == print }) else {
            await books.release()
            throw await meaning(of: .unknownPrint(print))
        }
        // A button or the program was faster.
        guard !Task.isCancelled else {
            await books.release()
            throw AuthenticationError(.appCancel)
        }
        guard let finger = fingers.finger(of: print) else {
            await books.release()
            throw .enrollmentChangedMeanwhile
        }
        let match = ReusableMatch(
            print: print,
            finger: finger,
            profile: books.profile,
            generation: fingers.generation,
            reader: reader,
            at: books.time.now()
        )
        try await books.settle(match, of: fingers, decision)
        return match
    }

    private func meaning(of error: ReaderError) async -> AuthenticationError {
        if error.code == .untrustworthy { await books.logUntrustworthy(error.description) }
        return AuthenticationError(duringScan: error)
    }
}

extension ReaderError {
    fileprivate static func unknownPrint(_ print: PrintID) -> ReaderError {
        ReaderError(
            .untrustworthy,
            operation: "identify",
            cause: "a match with \(print), which it was not given"
        )
    }
}

extension AuthenticationError {
    /// The error when the print that a finger matched may no longer be enrolled.
    static let enrollmentChangedMeanwhile = AuthenticationError(
        .systemCancel,
        message: "The enrolled fingers changed while the finger was read.",
        recovery: "Try again.",
        cause: "the generation of the enrollment set changed during the evaluation"
    )

    fileprivate static let retryStorm = AuthenticationError(
        .systemCancel,
        message: "The finger could not be read too many times in a row.",
        recovery: "Clean the sensor and the finger, then try again.",
        cause: "the reader gave only retries, \(ScanLoop.retries) of them"
    )
}
