// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import WhorlSecretMemory

@testable import WhorlEnrollment
@testable import WhorlTerminalPrompt
@testable import whorl
import WhorlService
import WhorlSupport

extension FuzzTarget {
    static let textTargets: [FuzzTarget] = [
        FuzzTarget(name: "display-text", longestInput: 4096, check: displayText),
        FuzzTarget(name: "prompt", longestInput: 2048, check: prompt),
        FuzzTarget(name: "json-line", longestInput: 2048, check: jsonLine),
        FuzzTarget(name: "names", longestInput: 200, check: names),
        FuzzTarget(name: "keys", longestInput: 2048, check: keys),
    ]

    /// Nothing that a terminal obeys comes out, and not more than there is room for.
    private static func displayText(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        let limit = Int(input.first ?? 0)
        let shown = DisplayText.clean(text, limit: limit)
        try promise(
            shown.unicodeScalars.allSatisfy(isHarmless),
            "\(shown.debugDescription) acts on a terminal"
        )
        // Without room there is still the ellipsis.
        try promise(shown.count <= max(limit, 1), "\(shown.count) characters where \(limit) were allowed")
        let phrase = Console.phrase(text)
        try promise(phrase.unicodeScalars.allSatisfy(isHarmless), "the phrase \(phrase.debugDescription)")
        if let label = FingerLabel.clean(text) {
            try promise(
                label.unicodeScalars.allSatisfy(isHarmless) && (1...FingerLabel.limit).contains(label.count),
                "the label \(label.debugDescription)"
            )
        }
    }

    /// No line of a prompt is wider than the terminal, and none holds what the terminal obeys but the style's own.
    private static func prompt(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let columns = max(20, Int(input.byte()))
        let isASCII = input.flag()
        let prompt = Prompt(
            title: input.text(),
            reason: input.text(),
            purpose: .yes,
            cancelTitle: input.text(),
            fallbackTitle: input.flag() ? input.text() : nil,
            readerKind: input.flag() ? .mock : .hardware,
            scanType: input.flag() ? .swipe : .press
        )
        var state = PromptState(prompt)
        state.apply(.told(.scan(.stage(completed: Int(input.byte()), total: Int(input.byte())))))
        if input.flag() { state.apply(.told(.ended(input.text()))) }
        let style = TerminalStyle(columns: columns, redraws: true, colors: false, ascii: isASCII)
        for line in state.lines(style) {
            try promise(
                line.unicodeScalars.allSatisfy { isHarmless($0) && (!isASCII || $0.isASCII) },
                "\(line.debugDescription) acts on a terminal"
            )
            try promise(
                TerminalText.width(of: line) <= columns,
                "\(line.debugDescription) is wider than \(columns)"
            )
        }
    }

    /// Every text is a line of JSON that acts on no terminal and reads back as the same text.
    private static func jsonLine(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        let line = JSONValue.array([.string(text)]).line
        try promise(line.unicodeScalars.allSatisfy(isHarmless), "\(line.debugDescription) acts on a terminal")
        let again = try? JSONDecoder().decode([String].self, from: Data(line.utf8))
        // Scalar by scalar: `==` takes two forms of one letter for the same.
        try promise(
            again?.first.map { Array($0.unicodeScalars) == Array(text.unicodeScalars) } ?? false,
            "\(line) is another text"
        )
    }

    /// What is taken for a name is written as something that is taken for the same name.
    private static func names(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        let near = Finger.nearest(to: text)
        if let finger = Finger(name: text) {
            try promise(Finger(name: finger.rawValue) == finger, "\(finger) by its name is another finger")
            try promise(near == finger, "near \(text.debugDescription) is \(near?.rawValue ?? "none")")
        }
        if let id = PrintID(text) {
            try promise(id.description == text && PrintID(bytes: id.bytes) == id, "\(text) is another print")
        }
    }

    /// What is submitted as a passcode holds no control character and not more than a passcode may.
    private static func keys(_ input: [UInt8]) throws(BrokenPromise) {
        let line = TypedLine(.taken)
        // A pause settles what is pending; here, a byte that no keyboard sends stands for one.
        for byte in input {
            guard case .submitted(let passcode) = byte == 0xFF ? line.settle() : line.take(byte) else {
                continue
            }
            let bytes = passcode.bytes.withUnsafeBytes { Array($0) }
            try promise(
                (1...PasscodeLine.capacity).contains(bytes.count)
                    && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
                "a passcode of \(bytes.count) bytes: \(bytes)"
            )
            line.set(.taken)
        }
    }

    /// Whether no terminal obeys the character, by the characters themselves and not by their categories.
    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F: false  // C0, DEL, C1
        case 0xAD, 0x61C, 0x180E: false  // soft hyphen, Arabic letter mark, Mongolian vowel separator
        case 0x200B...0x200F, 0x202A...0x202E: false  // zero width, marks and overrides of direction
        case 0x2028, 0x2029: false  // ends of lines and paragraphs
        case 0x2060...0x206F: false  // joiners, isolates
        case 0xFEFF, 0xFFF9...0xFFFB: false  // byte order mark, annotations
        case 0x1D173...0x1D17A, 0xE0000...0xE007F: false  // musical controls, tags
        default: true
        }
    }
}
