// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
package import WhorlService

/// The prints that count as their owner's, among those that a reader keeps.
///
/// A program that could open the reader may have put another finger in a print's place. One such print makes the whole set
/// untrusted, as a set that was tampered with: its owner removes all fingers and enrolls again. The passcode does not help,
/// since it does not say whose finger the reader matches.
package struct PrintTrust: Sendable {
    let accepts: @Sendable (EnrolledFinger) -> Bool

    /// Every print counts: the engine runs in a program of the user, who can open the reader anyway.
    package static let everyPrint = PrintTrust { _ in true }

    /// A print in a reader counts only if the reader was closed when it was enrolled, and was not found open later.
    ///
    /// - Parameter wasOpen: Returns whether a reader was found open after a print was enrolled there.
    /// - Returns: The trust.
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
