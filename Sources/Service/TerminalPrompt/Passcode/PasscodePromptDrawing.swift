// SPDX-License-Identifier: Apache-2.0

import Authentication

extension PasscodePromptState {
    /// Returns the lines of the whole prompt, for a terminal that is redrawn at each update.
    ///
    /// No line is wider than the style's columns, and no line contains a character from outside that controls the
    /// terminal. Only the number of typed characters is known here.
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

    /// Returns the line in which a passcode is typed: a dot for each character, as far as they fit.
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
    /// Returns the first lines of the prompt on an output that cannot be redrawn.
    package func opening(_ style: TerminalStyle) -> [String] {
        finger.opening(style) + (entry == .hidden ? [] : [Self.instruction])
    }

    /// Returns the text for one change on an output that cannot be redrawn; typed characters leave no trace there.
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
