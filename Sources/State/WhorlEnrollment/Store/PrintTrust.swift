// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
package import WhorlService

/// The rule for which prints in a reader are trusted to belong to their owner.
///
/// A program that could open the reader may have replaced a print with another finger. One such print makes the whole
/// set untrusted, like a set that was tampered with, and the owner must remove all fingers and enroll them again. The
/// passcode does not help, because it does not prove whose finger the reader matches.
package struct PrintTrust: Sendable {
    let accepts: @Sendable (EnrolledFinger) -> Bool

    /// A rule that trusts every print, because the engine runs in one of the user's programs and the user can open the
    /// reader anyway.
    package static let everyPrint = PrintTrust { _ in true }

    /// Returns a rule that trusts a print in a reader only if the reader was closed to other users during the
    /// enrollment and was not found open later.
    ///
    /// - Parameter wasOpen: A function that returns whether a reader was found open after a print was enrolled there.
    /// - Returns: The rule.
    package static func closedReaders(
        foundOpenAfter wasOpen: @escaping @Sendable (EnrolledFinger) -> Bool
    ) -> PrintTrust {
        PrintTrust { finger in
            guard finger.storage == .reader else { return true }
            return switch finger.access {
            case .closed: !wasOpen(finger)
            case .open, .unknown: false
            case .pretended: true
            }
        }
    }
}
