// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A question for the keyring's dialog.
///
/// The prompter passes it as one line of JSON. All texts come from the program that asks, and must be made safe before
/// they are shown.
package struct KeyringQuestion: Codable, Sendable, Hashable {
    /// The kind of answer.
    package enum Kind: String, Codable, Sendable {
        /// An existing password.
        case password
        /// A new password, which is typed twice.
        case newPassword
        /// Yes or no.
        case confirmation
    }

    /// The maximum length of a question in bytes, so that it fits into a pipe.
    package static let longest = 60_000

    package var kind: Kind
    package var title = ""
    package var message = ""
    package var details = ""
    package var warning = ""
    /// The sentence about the program that asks, from the prompter itself.
    package var asker = ""
    /// The checkbox, if there is one.
    package var choice = ""
    package var isChosen = false
    package var proceedTitle = ""
    package var cancelTitle = ""

    package init(_ kind: Kind) { self.kind = kind }

    /// Reads a question from a line; `nil` if it is not one.
    package init?(line: some Collection<UInt8>) {
        // The error would only say in which way the line is not a question.
        guard let question = try? JSONDecoder().decode(Self.self, from: Data(line)) else { return nil }
        self = question
    }

    /// The line with this question; `nil` if it would be too long.
    package var line: [UInt8]? {
        // Strings and Booleans can always be encoded.
        guard let data = try? JSONEncoder().encode(self), data.count < Self.longest else { return nil }
        return Array(data) + [UInt8(ascii: "\n")]
    }
}

/// The form of the dialog's answer: a byte for the button, a byte for the checkbox, and the password.
package enum KeyringAnswerForm {
    package static let yes = UInt8(ascii: "y")
    package static let no = UInt8(ascii: "n")
    /// The number of bytes before the password.
    package static let start = 2
    /// The maximum length of a password in bytes.
    package static let longestPassword = 1024
}
