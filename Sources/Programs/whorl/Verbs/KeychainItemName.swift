// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService
import WhorlSupport

/// The words for a keychain item, made of its attributes; its value is no part of them.
struct KeychainItemName: Sendable, Hashable {
    /// The kind of item: a password, a key or a certificate.
    let kind: String
    /// The access group, which is the program that stored the item.
    let group: String
    /// The words that the program gave the item.
    let text: String

    init(_ record: KeychainRecord) {
        group = record.accessGroup
        let words: [String?]
        switch record.itemClass {
        case .genericPassword:
            kind = "password"
            words = [record.words("svce"), record.words("acct")]
        case .internetPassword:
            kind = "password"
            words = [record.words("srvr"), record.words("acct")]
        case .key:
            kind = "key"
            words = [record.words("labl") ?? record.words("atag")]
        case .certificate:
            kind = "certificate"
            words = [record.words("labl")]
        }
        // Programs choose the words, of any length and with any character.
        let known = DisplayText.clean(words.compactMap(\.self).joined(separator: ", "))
        text = known.allSatisfy(\.isWhitespace) ? "without a name" : known
    }

    /// The words with the program's name.
    var whole: String { "\(text) (\(DisplayText.clean(group)))" }

    /// The kind, and the words with the program's name.
    var words: String { "the \(kind) \(whole)" }

    var json: JSONValue { ["kind": .string(kind), "group": .string(group), "name": .string(text)] }
}

extension KeychainRecord {
    /// The words of an attribute; `nil` for one that is missing, empty or no text.
    func words(_ name: String) -> String? {
        switch attributes[name] {
        case .text(let text)? where !text.isEmpty: text
        case .data(let data)? where !data.isEmpty: String(validating: data, as: UTF8.self)
        default: nil
        }
    }
}
