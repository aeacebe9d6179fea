// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import WhorlStateStore
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
        /// Whether a different finger matched as well.
        package var hasTwoFingers = false
    }

    /// The source of presentations.
    package let source: TouchSource
    /// The set of enrolled fingers from which the gallery is made.
    package let fingers: EnrollmentSnapshot
    /// The reader that is asked.
    package let reader: ReaderInfo
    /// The records to which tries are written.
    package let bookkeeping: EvaluationBookkeeping
    /// The decision which method of the evaluation succeeded first.
    package let decision: Decision
    /// The number of presentations that may fail to match here.
    package var allowed = ScanLoop.tries
    /// The prints that a second, different finger is compared with; `nil` where one finger is enough.
    package var galleryOfSecond: [GalleryEntry]?

    /// Asks for touches until one matches, or one of each of two fingers where two are demanded, the tries are used up, or an
    /// error ends the loop.
    ///
    /// Every way out of it leaves a settled try, or a reservation that the next evaluation charges.
    package func scan(_ entry: PromptEntry) async throws(ServiceError) -> Success {
        var first: Success?
        return try await TouchLoop(bookkeeping: bookkeeping, allowed: allowed).firstSuccess(
            entry,
            touch: { await source(after: first?.match).next(entry) },
            settle: { print, updated async throws(ServiceError) in
                let match = try await known(print, among: source(after: first?.match).gallery)
                if let first, first.match.finger != match.finger {
                    try await bookkeeping.settle(first.match, and: match, of: fingers, decision)
                    return .success(Success(match: first.match, updated: first.updated, hasTwoFingers: true))
                }
                guard galleryOfSecond != nil else {
                    try await bookkeeping.settle(match, of: fingers, decision)
                    return .success(Success(match: match, updated: updated))
                }
                // It is no failure, and no success yet: it neither charges a try nor gives one back.
                await bookkeeping.release()
                first = first ?? Success(match: match, updated: updated)
                entry.send(.anotherFinger)
                return .another
            }
        )
    }

    /// Returns the source of touches: that of the second finger after a first one has matched.
    ///
    /// The first finger is compared again, so that it can be told from a stranger's; a reader that compares with one print
    /// alone gets another finger's.
    private func source(after first: ReusableMatch?) -> TouchSource {
        guard let first else { return source }
        var second = source
        second.gallery = (galleryOfSecond ?? []).filter { entry in
            source.identifies || fingers.finger(of: entry.id) != first.finger
        }
        return second
    }

    /// Returns the match with a print that the reader was given.
    private func known(
        _ print: PrintID,
        among gallery: [GalleryEntry]
    ) async throws(ServiceError) -> ReusableMatch {
        guard gallery.contains(where: { $0.id == print }) else {
            throw await bookkeeping.refuse(unknown: print)
        }
        // A button or the program was faster.
        guard !Task.isCancelled else {
            await bookkeeping.release()
            throw ServiceError(.appCancel)
        }
        guard let finger = fingers.finger(of: print) else {
            await bookkeeping.release()
            throw .enrollmentChangedMeanwhile
        }
        return ReusableMatch(
            print: print,
            finger: finger,
            profile: bookkeeping.profile,
            generation: fingers.generation,
            reader: reader,
            in: bookkeeping.stay ?? "",
            at: bookkeeping.time.now()
        )
    }
}

extension ServiceError {
    /// The error when the print that a finger matched may no longer be enrolled.
    static let enrollmentChangedMeanwhile = ServiceError(
        .systemCancel,
        message: "The enrolled fingers changed during the scan.",
        recovery: "Try again.",
        cause: "the generation of the enrollment set changed during the evaluation"
    )
}
