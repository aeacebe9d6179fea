// SPDX-License-Identifier: Apache-2.0

/// The failed attempts at a place where any user can be named, such as a login screen.
///
/// Attempts count regardless of which user was named. A stranger who tries one user after another is slowed down before
/// anyone is locked out.
package protocol PlaceTries: Sendable {
    /// Checks that the place is not paused.
    ///
    /// - Throws: `biometryLockout` while it is paused; `storeFailed`.
    func check(_ readers: ReaderClass) async throws(ServiceError)

    /// Counts a failed attempt durably, and returns the new state of the place.
    func charge(_ readers: ReaderClass) async throws(ServiceError) -> PlaceAfterMiss

    /// Resets the count after a user has been authenticated there.
    func clear() async throws(ServiceError)
}

/// The state of a place after a failed attempt.
package enum PlaceAfterMiss: Sendable, Hashable {
    /// The given number of attempts remains.
    case open(remaining: Int)
    /// The place is paused and does not prompt for a finger.
    ///
    /// If a failure is the first in a row to pause the place, it does not also count against the user.
    case rests(for: Duration, isFirst: Bool)
}

extension ServiceError {
    /// Creates the error for a place that is paused for the given time.
    package static func placeRests(for left: Duration) -> ServiceError {
        ServiceError(
            .placeRests,
            recovery:
                "Wait \(left.components.seconds + 1) s, or ask an administrator to run `whorl unlock`.",
            cause: "no attempts accepted here for \(left.components.seconds) s"
        )
    }
}
