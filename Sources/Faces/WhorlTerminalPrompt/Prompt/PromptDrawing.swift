// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

extension PromptState {
    /// Returns the lines of the whole prompt, for a terminal that is redrawn with each update.
    ///
    /// No line is wider than the style's columns, and text from outside cannot control the terminal. Only the number of
    /// typed characters is available here, not the passcode itself.
    package func lines(_ style: TerminalStyle) -> [String] {
        guard let end else {
            return heading(style) + fingerLines(style) + passcodeLines(style) + [keys(style)]
        }
        return heading(style) + [line(end, style)]
    }

    /// Returns the lines with the title, the reason, the purpose of the touch, a warning about a simulated reader, and
    /// the progress.
    private func heading(_ style: TerminalStyle) -> [String] {
        var lines = [style.paint(text(prompt.title, style), .bold)]
        lines += (wrapped(prompt.reason, style) + wrapped(prompt.purposeLine, style)).map { "  " + $0 }
        if let warning = prompt.readerKind.warning { lines.append(hint(warning, style)) }
        if let progress { lines.append("  " + style.line(progress)) }
        return lines
    }

    /// Returns a sentence, wrapped to as many lines as necessary.
    ///
    /// Sentences are wrapped because the end of a reason may be important, such as the recipient of a payment.
    private func wrapped(_ sentence: String, _ style: TerminalStyle) -> [String] {
        TerminalText.lines(sentence, columns: style.columns - 2, ascii: style.ascii)
    }

    private func line(_ end: End, _ style: TerminalStyle) -> String {
        switch end {
        case .good(let reason): "  " + style.sign(.good) + " " + text(reason, style, indent: 5)
        case .bad(let reason): "  " + style.sign(.bad) + " " + text(reason, style, indent: 5)
        }
    }

    private func fingerLines(_ style: TerminalStyle) -> [String] {
        let dots = style.ascii ? "..." : "…"
        let status: [String] =
            switch finger {
            case .preparing: ["  " + text("Preparing the reader", style, indent: 5) + dots]
            case .waiting: ["  " + style.paint(text(prompt.scanType.instruction, style, indent: 2), .bold)]
            case .reading: ["  " + text("Reading", style, indent: 5) + dots]
            case .ended: []
            }
        return status + (hint.map { [hint($0, style)] } ?? [])
    }

    private func passcodeLines(_ style: TerminalStyle) -> [String] {
        let line: [String] =
            switch passcode {
            case .hidden, .ended: []
            case .typed(let count): [Self.line(style, characters: count)]
            case .checking(let count):
                ["  " + text("Checking", style, indent: 5) + (style.ascii ? "..." : "…")]
                    + (count > 0 ? [Self.line(style, characters: count)] : [])
            }
        return line + (verdict.map { [hint($0, style)] } ?? [])
    }

    /// Returns the line of the passcode field, with as many of the characters' dots as fit.
    static func line(_ style: TerminalStyle, _ question: String = "Passcode", characters: Int) -> String {
        let question = "  " + TerminalText.line(question, columns: style.columns - 4, ascii: style.ascii)
        let room = max(0, style.columns - TerminalText.width(of: question) - 2)
        let dot: Character = style.ascii ? "*" : "•"
        return question + ": " + String(repeating: dot, count: min(characters, room))
    }

    /// Returns the line that lists the keys and their actions.
    ///
    /// If there are two titles, they share the width.
    private func keys(_ style: TerminalStyle) -> String {
        let room = style.columns - 2 - "[Esc] ".count
        let cancel = "  " + style.paint("[Esc]", .bold) + " "
        guard passcode == .hidden, let fallback = prompt.fallbackTitle else {
            return cancel + text(prompt.cancelTitle, style, columns: room)
        }
        let each = max(1, (room - "   [Tab] ".count) / 2)
        return cancel + text(prompt.cancelTitle, style, columns: each) + "   "
            + style.paint("[Tab]", .bold) + " " + text(fallback, style, columns: each)
    }

    private func hint(_ hint: String, _ style: TerminalStyle) -> String {
        "  " + style.paint(text(hint, style, indent: 2), .yellow)
    }

    private func text(_ text: String, _ style: TerminalStyle, indent: Int = 0) -> String {
        self.text(text, style, columns: style.columns - indent)
    }

    private func text(_ text: String, _ style: TerminalStyle, columns: Int) -> String {
        TerminalText.line(text, columns: columns, ascii: style.ascii)
    }
}

extension PromptState {
    /// Returns the first lines of the prompt, for output that cannot be redrawn.
    package func opening(_ style: TerminalStyle) -> [String] {
        wrapped(prompt.reason, style).enumerated().map {
            $0 == 0 ? text(prompt.title, style) + ": " + $1 : "  " + $1
        }
            + wrapped(prompt.purposeLine, style)
            + (prompt.readerKind.warning.map { [text($0, style)] } ?? [])
            + (passcode == .hidden ? [] : [text(Self.instruction, style)])
    }

    /// Returns the text for one change, for output that cannot be redrawn.
    ///
    /// Typed characters are not shown in such output.
    package func line(for change: PromptChange, _ style: TerminalStyle) -> String? {
        switch change {
        case .told(let update): line(for: update, style)
        case .opened: text(Self.instruction, style)
        case .typed: nil
        case .refused(let sentence): text(sentence, style)
        case .left(let button): text(Self.farewell(button), style)
        }
    }

    private func line(for update: PromptUpdate, _ style: TerminalStyle) -> String? {
        guard let message = prompt.message(for: update) else { return nil }
        return switch update {
        case .fingerEnded where prompt.parts.contains(.passcode):
            text(message, style) + " " + text(Self.instruction, style)
        // These strings may come from outside.
        case .fingerEnded, .passcodeEnded, .ended: text(message, style)
        case .scan, .noMatch, .anotherFinger, .checking, .wrongPasscode, .throttled, .matched, .verified:
            message
        }
    }

    private static let instruction = "Enter the passcode."
}
