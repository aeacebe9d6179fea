// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A password in the one form that it is compared in (RFC 8265, 4.2, OpaqueString).
///
/// Keyboards and systems write one character in several ways: `ä` as one code point, or as a letter and its dots. Spaces
/// of all kinds become the usual one. Case and width stay.
struct PreparedPassword {
    /// The maximum length in bytes.
    static let longest = 1024
    /// The minimum number of characters of a new password (NIST SP 800-63B, 5.1.1.2).
    static let shortest = 8

    let text: String

    /// Prepares a password; `nil` if it is empty or too long, or has a control character.
    init?(_ password: String) {
        guard (1...Self.longest).contains(password.utf8.count) else { return nil }
        var scalars = String.UnicodeScalarView()
        for scalar in password.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate: return nil
            case .spaceSeparator: scalars.append(" ")
            default: scalars.append(scalar)
            }
        }
        text = String(scalars).precomposedStringWithCanonicalMapping
    }

    /// Whether it has enough characters for a new password.
    var isLongEnough: Bool { text.unicodeScalars.count >= Self.shortest }
}
