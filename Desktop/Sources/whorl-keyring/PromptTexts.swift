// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc
import KeyringQuestion
import WhorlSupport

/// The properties of a prompt, which its program changes with each question.
struct PromptTexts: Sendable {
    /// The maximum number of properties and their size in bytes, also of unknown ones, and the maximum length in bytes of one
    /// text and of all texts.
    private static let limits = (count: 32, size: 64 << 10, text: 4 << 10, all: 16 << 10)
    private static let names: Set = [
        "title", "message", "description", "warning", "choice-label", "continue-label", "cancel-label",
    ]

    private var texts: [String: String] = [:]
    private(set) var isNewPassword = false
    private(set) var isChosen = false

    /// Applies changes.
    ///
    /// Properties that the prompter does not know are ignored, such as the window of the program that asks.
    mutating func apply(_ properties: BusValue) throws(PromptRefusal) {
        guard properties.count <= Self.limits.count else {
            throw .invalid("The prompt has too many properties.")
        }
        guard properties.size <= Self.limits.size else {
            throw .invalid("The properties of the prompt are too long.")
        }
        for index in 0..<properties.count {
            guard let entry = properties[index], let nameSize = entry[0]?.textSize, nameSize < 64,
                let name = entry[0]?.text, let value = entry[1]?.content
            else { throw .invalid("The name of a property is too long.") }
            switch name {
            case "password-new": isNewPassword = value.flag ?? false
            case "choice-chosen": isChosen = value.flag ?? false
            case _ where Self.names.contains(name):
                guard value.textSize ?? 0 <= Self.limits.text else { throw .invalid("A text is too long.") }
                texts[name] = value.text ?? ""
            default: break
            }
        }
        guard texts.values.reduce(0, { $0 + $1.utf8.count }) <= Self.limits.all else {
            throw .invalid("The texts are too long.")
        }
    }

    /// The texts that name the keyring, in any language.
    ///
    /// They are only compared with those of other prompts.
    var subject: String { [texts["message"] ?? "", texts["description"] ?? ""].joined(separator: "\u{0}") }

    /// Returns whether the texts quote a keyring's label.
    ///
    /// gnome-keyring writes a label as in markup, and between quotation marks in all languages except Occitan. Without the
    /// marks, the label may be a word of a sentence.
    func quote(_ label: String) -> Bool {
        guard !label.isEmpty, let escaped = g_markup_escape_text(label, -1) else { return false }
        defer { g_free(escaped) }
        return texts.values.contains { text in
            text.withCString { start in
                var rest = start
                while let found = strstr(rest, escaped) {
                    if found > start, Self.isMark(g_utf8_prev_char(found)),
                        Self.isMark(found + strlen(escaped))
                    {
                        return true
                    }
                    rest = UnsafePointer(found + 1)
                }
                return false
            }
        }
    }

    /// Returns whether a character can be a quotation mark, or the narrow space that belongs to one in French.
    private static func isMark(_ place: UnsafePointer<CChar>) -> Bool {
        let character = g_utf8_get_char(place)
        return character > 0x20 && g_unichar_isalnum(character) == 0
    }

    func question(_ kind: KeyringQuestion.Kind) -> KeyringQuestion {
        var question = KeyringQuestion(kind)
        question.title = shown("title", 200)
        question.message = shown("message", 300)
        question.details = shown("description", 500)
        question.warning = shown("warning", 300)
        question.choice = shown("choice-label", 200)
        question.isChosen = isChosen
        // The underscore marks a key in GTK's labels.
        question.proceedTitle = shown("continue-label", 40).filter { $0 != "_" }
        question.cancelTitle = shown("cancel-label", 40).filter { $0 != "_" }
        return question
    }

    private func shown(_ name: String, _ limit: Int) -> String {
        DisplayText.clean(texts[name] ?? "", limit: limit)
    }
}
