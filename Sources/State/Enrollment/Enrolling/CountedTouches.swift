// SPDX-License-Identifier: Apache-2.0

package import Fingerprint

/// Counts the touches that an enrollment compares with enrolled fingers, as evaluations count theirs.
///
/// Without it the last touch of an enrollment would tell, as often as somebody likes, whether a copied finger passes for an
/// enrolled one. The engine of `Authentication` counts; here it is only said when.
package protocol TouchCounter: Sendable {
    /// Begins an enrollment. No evaluation and no other enrollment of the profile tries until what this gives is let go.
    ///
    /// - Parameters:
    ///   - finger: Which finger is enrolled, for the log.
    ///   - reader: Which reader is asked.
    ///   - limit: How long to wait for others.
    /// - Returns: What counts this enrollment's touches; it holds the others off while it lives.
    /// - Throws: `reader` with `inUse` when others go on for longer; `store`.
    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(EnrollmentError) -> any CountedTouches
}

/// The counted touches of one enrollment.
///
/// A match sets nothing back to zero, whatever it is a match with: who alternates a copied finger with the one that is
/// being enrolled would never be locked out.
package protocol CountedTouches: Sendable {
    /// Charges a try before its scan.
    ///
    /// - Throws: `lockedOut` when there is none left; `store`.
    func reserve() async throws(EnrollmentError)

    /// The touch was of no print that it was compared with: the charge stays.
    ///
    /// - Throws: `lockedOut` when it was the last one; `store`.
    func charge() async throws(EnrollmentError)

    /// The touch matched, or came to no answer: the charge is taken back.
    func release() async
}
