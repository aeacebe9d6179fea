// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
package import WhorlFingerprint
import WhorlStateStore
package import WhorlService

/// The touches of one evaluation, from the first touch to the answer.
package struct ScanLoop: Sendable {
    /// The number of touches per evaluation that may fail to match, unless the request allows fewer.
    package static let tries = 3
    /// The maximum number of unreadable touches per evaluation.
    ///
    /// It ends the loop if a reader keeps reporting "try again".
    package static let retries = 30

    /// A match to record.
    package struct Success: Sendable {
        /// The match.
        package let match: ReusableMatch
        /// A better template, if the reader created one.
        package let updated: Template?
        /// Whether a different finger matched as well.
        package var hasTwoFingers = false
    }

    /// The source of touches.
    package let source: TouchSource
    /// The set of enrolled fingers from which the gallery was created.
    package let fingers: EnrollmentSnapshot
    /// The reader in use.
    package let reader: ReaderInfo
    /// The records to which attempts are written.
    package let bookkeeping: EvaluationBookkeeping
    /// The decision on which method of the evaluation succeeded first.
    package let decision: Decision
    /// The number of touches that may fail to match in this loop.
    package var allowed = ScanLoop.tries
    /// The prints to compare with a second, different finger; `nil` if one finger is enough.
    package var galleryOfSecond: [GalleryEntry]?

    /// Waits for touches until one matches, the attempts are used up, or an error ends the loop.
    ///
    /// If two fingers are required, one touch of each must match. However the loop ends, it leaves a settled attempt or
    /// a reservation that the next evaluation counts as a failure.
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
                // This is neither a failure nor a success yet: the attempt is neither charged nor given back.
                await bookkeeping.release()
                first = first ?? Success(match: match, updated: updated)
                entry.send(.anotherFinger)
                return .another
            }
        )
    }

    /// Returns the source of touches; after the first finger has matched, the source for the second finger.
    ///
    /// The first finger stays among the prints to compare, so that it can be distinguished from a stranger's finger. A
    /// reader that compares with only one print gets a print of another finger.
    private func source(after first: ReusableMatch?) -> TouchSource {
        guard let first else { return source }
        var second = source
        second.gallery = (galleryOfSecond ?? []).filter { entry in
            source.identifies || fingers.finger(of: entry.id) != first.finger
        }
        return second
    }

    /// Returns the match if its print was given to the reader.
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
    /// The error for a match whose print may no longer be enrolled.
    static let enrollmentChangedMeanwhile = ServiceError(
        .systemCancel,
        message: "The enrolled fingers changed during the scan.",
        recovery: "Try again.",
        cause: "the generation of the enrollment set changed during the evaluation"
    )
}
