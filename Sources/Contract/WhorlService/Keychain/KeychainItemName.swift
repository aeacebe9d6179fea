// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// A kind of keychain item, as users know it.
public enum KeychainItemKind: String, Sendable, Hashable, CaseIterable, Codable {
    case password
    case key
    case certificate
}

/// The description of a keychain item, which is created from its attributes but not from its value.
package struct KeychainItemName: Sendable, Hashable {
    /// The kind of the item.
    package let kind: KeychainItemKind
    /// The access group, which identifies the program that stored the item.
    package let group: String
    /// The name that the program gave the item, in at most 200 characters that are safe to display.
    package let text: String

    /// Creates the description of an item.
    package init(_ record: KeychainRecord) {
        group = record.accessGroup
        let words: [String?]
        switch record.itemClass {
        case .genericPassword:
            kind = .password
            words = [record.words("svce"), record.words("acct")]
        case .internetPassword:
            kind = .password
            words = [record.words("srvr"), record.words("acct")]
        case .key:
            kind = .key
            words = [record.words("labl") ?? record.words("atag")]
        case .certificate:
            kind = .certificate
            words = [record.words("labl")]
        }
        // Programs choose the text, of any length and with any character.
        let known = DisplayText.clean(words.compactMap(\.self).joined(separator: ", "))
        text = known.allSatisfy(\.isWhitespace) ? "without a name" : known
    }

    /// The item's name, followed by the program's.
    package var whole: String { "\(text) (\(DisplayText.clean(group)))" }

    /// The kind of item, its name and the program's name.
    package var words: String { "the \(kind.rawValue) \(whole)" }
}

extension KeychainRecord {
    /// Returns the text of an attribute; `nil` if the attribute is missing, empty or not text.
    package func words(_ name: String) -> String? {
        switch attributes[name] {
        case .text(let text)? where !text.isEmpty: text
        case .data(let data)? where !data.isEmpty: String(validating: data, as: UTF8.self)
        default: nil
        }
    }
}
