// SPDX-License-Identifier: Apache-2.0

import Authentication

extension PasscodePromptState {
    /// The whole prompt, line by line, for a terminal that is drawn again at each update.
    ///
    /// No line is wider than the style's columns, and none holds a character from outside that acts on a terminal. Of what
    /// is typed it knows the number of characters alone.
    package func lines(_ style: TerminalStyle) -> [String] {
        var lines = finger.heading(style)
        guard let end else { return lines + fingerLines(style) + entryLines(style) + [keys(style)] }
        switch end {
        case .good(let text):
            lines.append("  " + style.sign(.good) + " " + finger.text(text, style, indent: 5))
        case .bad(let text): lines.append("  " + style.sign(.bad) + " " + finger.text(text, style, indent: 5))
        }
        return lines
    }

    private func fingerLines(_ style: TerminalStyle) -> [String] {
        guard asksFinger else { return obstacle.map { [hint($0, style)] } ?? [] }
        return ["  " + finger.status(style)] + (finger.hint.map { [hint($0, style)] } ?? [])
    }

    private func entryLines(_ style: TerminalStyle) -> [String] {
        let line: [String] =
            switch entry {
            case .hidden, .ended: []
            case .typed(let count): [Self.line(style, characters: count)]
            case .checking(let count):
                ["  Checking" + (style.ascii ? "..." : "…")]
                    + (count > 0 ? [Self.line(style, characters: count)] : [])
            }
        return line + (verdict.map { [hint($0, style)] } ?? [])
    }

    /// The line that a passcode is typed in: a dot for each character, as many as there is room for.
    static func line(_ style: TerminalStyle, _ question: String = "  Passcode", characters: Int) -> String {
        let room = max(0, style.columns - TerminalText.width(of: question) - 2)
        let dot: Character = style.ascii ? "*" : "•"
        return question + ": " + String(repeating: dot, count: min(characters, room))
    }

    private func hint(_ text: String, _ style: TerminalStyle) -> String {
        "  " + style.paint(finger.text(text, style, indent: 2), .yellow)
    }

    private func keys(_ style: TerminalStyle) -> String {
        "  " + finger.keys(style, hasFallback: entry == .hidden)
    }
}

extension PasscodePromptState {
    /// What is said first where nothing can be drawn again.
    package func opening(_ style: TerminalStyle) -> [String] {
        finger.opening(style) + (entry == .hidden ? [] : [Self.instruction])
    }

    /// What is said about one change where nothing can be drawn again; what is typed leaves no trace.
    package func line(for change: PasscodePromptChange, _ style: TerminalStyle) -> String? {
        switch change {
        case .told(let update): line(for: update, style)
        case .opened: Self.instruction
        case .typed: nil
        case .refused(let text): text
        case .interrupted: "Cancelled."
        }
    }

    private func line(for update: PasscodePromptUpdate, _ style: TerminalStyle) -> String? {
        switch update {
        case .scan(let event): finger.line(for: .scan(event), style)
        case .noMatch(let remaining): finger.line(for: .noMatch(remaining: remaining), style)
        case .fingerEnded(let reason): finger.text(reason, style) + " " + Self.instruction
        case .checking: nil
        case .wrongPasscode, .throttled: Self.verdict(update)
        case .passcodeEnded(let reason), .ended(let reason): finger.text(reason, style)
        case .matched(let name): finger.line(for: .matched(name), style)
        case .verified: "The passcode is right."
        }
    }

    private static let instruction = "Type the passcode, then Enter."
}
