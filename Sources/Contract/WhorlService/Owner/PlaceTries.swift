// SPDX-License-Identifier: Apache-2.0

/// The failed tries at a place where anyone can name anyone, such as a login screen.
///
/// They count there no matter who was named, so that a stranger who names one person after the other is slowed down before
/// anyone's fingers are locked.
package protocol PlaceTries: Sendable {
    /// Returns only if the place does not rest now.
    ///
    /// - Throws: `biometryLockout` while it rests; `storeFailed`.
    func check(_ readers: ReaderClass) async throws(ServiceError)

    /// Counts a failed try, durably, and returns how the place is afterwards.
    func charge(_ readers: ReaderClass) async throws(ServiceError) -> PlaceAfterMiss

    /// Sets the count to zero, since a person was recognized there.
    func clear() async throws(ServiceError)
}

/// The state of a place after a failed try.
package enum PlaceAfterMiss: Sendable, Hashable {
    /// Further tries are free, so many.
    case open(remaining: Int)
    /// The place rests, and no finger is asked for.
    ///
    /// The first miss in a row that makes it rest does not count for the person as well.
    case rests(for: Duration, isFirst: Bool)
}

extension ServiceError {
    /// The error of a place that rests for so long.
    package static func placeRests(for left: Duration) -> ServiceError {
        ServiceError(
            .placeRests,
            recovery:
                "Wait \(left.components.seconds + 1) s, or ask an administrator to run `whorl unlock`.",
            cause: "no attempts accepted here for \(left.components.seconds) s"
        )
    }
}
