// SPDX-License-Identifier: Apache-2.0

package import Enrollment
package import Fingerprint
import StateStore

/// The touches of one evaluation, from the first to the answer.
package struct ScanLoop: Sendable {
    /// Presentations in one evaluation that may fail to match.
    package static let tries = 3
    /// Presentations in one evaluation that may be unreadable: a reader that only ever says "try again" must
    /// come to an end.
    package static let retries = 30

    /// A match that is on the books.
    package struct Success: Sendable {
        /// What matched.
        package let match: ReusableMatch
        /// A better template, where the reader made one.
        package let updated: Template?
    }

    private enum Reading {
        case match(PrintID, updated: Template?)
        case noMatch
        case none(AuthenticationError)
    }

    /// Where presentations come from.
    package let source: TouchSource
    /// The set of enrolled fingers that the gallery is of.
    package let fingers: EnrollmentSnapshot
    /// The reader that is asked.
    package let reader: ReaderInfo
    /// Where tries are written down.
    package let books: EvaluationBooks
    /// Whether another way of the evaluation was faster.
    package let decision: Decision

    /// Asks for touches until one matches, the tries are used up, or something ends it.
    ///
    /// Every way out of it leaves a settled try, or a reservation that the next evaluation charges.
    package func run(_ line: PromptLine) async throws(AuthenticationError) -> Success {
        var failures = 0
        var retriesLeft = ScanLoop.retries
        while true {
            try await books.reserve()
            switch await read(line, &retriesLeft) {
            case .match(let print, let updated):
                return Success(match: try await settle(print), updated: updated)
            case .noMatch:
                failures += 1
                try await charge(failures, line)
            case .none(let error):
                await books.release()
                throw error
            }
        }
    }

    /// Touches until one could be read.
    ///
    /// A retry keeps the reservation that is there: it is not charged when it is told, and a run killed
    /// during it is charged as any other.
    private func read(_ line: PromptLine, _ retriesLeft: inout Int) async -> Reading {
        while retriesLeft > 0 {
            switch await source.next(line) {
            case .answered(.match(let print, let updated)): return .match(print, updated: updated)
            case .answered(.noMatch): return .noMatch
            case .answered(.retry): retriesLeft -= 1
            case .timedOut: return .none(AuthenticationError(.systemCancel))
            case .failed(let error): return .none(await meaning(of: error))
            }
        }
        return .none(.retryStorm)
    }

    private func charge(_ failures: Int, _ line: PromptLine) async throws(AuthenticationError) {
        let (remaining, lock) = try await books.charge()
        line.send(.noMatch(remaining: min(ScanLoop.tries - failures, remaining)))
        if let error = AuthenticationError.lockout(lock) { throw error }
        guard failures < ScanLoop.tries else { throw AuthenticationError(.authenticationFailed) }
    }

    /// Puts a match on the books, after which it is a success.
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
    /// The print that a finger matched may not be enrolled any more.
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
