// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlSupport

/// The name of a stored item as its program knows it.
struct ItemTitle {
    let name: String
    /// The ID of the confined program that stored the item; `nil` for an item of the user's other programs.
    let program: String?

    /// Separates the prefix with which the service stores an item of a confined program: `confined.ID:`.
    init(_ id: ItemID) {
        let text = id.name.text
        let prefix = "confined."
        guard text.hasPrefix(prefix), let end = text.firstIndex(of: ":"),
            let program = Self.decoded(text[..<end].dropFirst(prefix.count))
        else {
            (name, self.program) = (DisplayText.clean(text, limit: 100), nil)
            return
        }
        name = DisplayText.clean(String(text[end...].dropFirst()), limit: 100)
        self.program = DisplayText.clean(program, limit: 60)
    }

    /// Returns an ID in which some bytes are written as `+` and two digits; `nil` if it is not one.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "+") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
