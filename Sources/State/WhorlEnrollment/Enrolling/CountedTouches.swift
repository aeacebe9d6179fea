// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import WhorlService

/// Counts the touches that an enrollment compares with enrolled fingers, as evaluations count theirs.
///
/// Without it, an attacker could use the last touch of an enrollment to test, without limit, whether a copied finger
/// passes for an enrolled one. The engine of `WhorlEngine` counts; this protocol only says when.
package protocol TouchCounter: Sendable {
    /// Begins an enrollment; the profile's other evaluations and enrollments wait until the result is released.
    ///
    /// - Parameters:
    ///   - finger: The finger that is enrolled, for the log.
    ///   - reader: The reader that is used.
    ///   - limit: How long to wait for others.
    /// - Returns: The counter of this enrollment's touches; it holds the others off while it lives.
    /// - Throws: `reader` with `inUse` when others go on for longer; `store`.
    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(EnrollmentError) -> any CountedTouches
}

/// The counted touches of one enrollment.
///
/// A match does not reset the count, whichever print it matches: otherwise an attacker who alternates a copied finger
/// with the one that is being enrolled would never be locked out.
package protocol CountedTouches: Sendable {
    /// Charges a try before its scan.
    ///
    /// - Throws: `lockedOut` when no try is left; `store`.
    func reserve() async throws(EnrollmentError)

    /// Keeps the charge: the touch matched none of the prints that it was compared with.
    ///
    /// - Throws: `lockedOut` when it was the last one; `store`.
    func charge() async throws(EnrollmentError)

    /// Takes the charge back: the touch matched, or gave no answer.
    func release() async
}
