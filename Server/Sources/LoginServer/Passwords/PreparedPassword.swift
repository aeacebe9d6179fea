// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A password in its normalized form for comparison (RFC 8265, 4.2, OpaqueString).
///
/// Keyboards and systems write one character in several ways: `ä` as one code point, or as a letter and its dots. All
/// kinds of spaces become the ordinary one. Case and width are unchanged.
struct PreparedPassword {
    /// The maximum length in bytes.
    static let longest = 1024
    /// The minimum number of characters of a new password (NIST SP 800-63B, 5.1.1.2).
    static let shortest = 8

    let text: String

    /// Prepares a password; returns `nil` if it is empty or too long, or contains a control character.
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

    /// Whether it is long enough for a new password.
    var isLongEnough: Bool { text.unicodeScalars.count >= Self.shortest }
}
