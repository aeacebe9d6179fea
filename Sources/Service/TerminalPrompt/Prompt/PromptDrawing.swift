// SPDX-License-Identifier: Apache-2.0

package import Authentication
import Fingerprint

extension PromptState {
    /// Returns the lines of the whole prompt, for a terminal that is redrawn at each update.
    ///
    /// No line is wider than the style's columns, and no line contains a character from outside that controls the
    /// terminal.
    package func lines(_ style: TerminalStyle) -> [String] {
        var lines = heading(style)
        if let progress { lines.append("  " + style.line(progress)) }
        lines.append("  " + status(style))
        if let hint { lines.append("  " + style.paint(text(hint, style, indent: 2), .yellow)) }
        if !isOver { lines.append("  " + keys(style)) }
        return lines
    }

    /// Returns the title, the reason, and a warning about a simulated reader.
    func heading(_ style: TerminalStyle) -> [String] {
        var lines = [
            style.paint(text(prompt.title, style), .bold), "  " + text(prompt.reason, style, indent: 2),
        ]
        if let warning = prompt.readerKind.warning {
            lines.append("  " + style.paint(text(warning, style, indent: 2), .yellow))
        }
        return lines
    }

    func status(_ style: TerminalStyle) -> String {
        switch phase {
        case .preparing: text("Getting the reader ready", style, indent: 5) + (style.ascii ? "..." : "…")
        case .waiting: style.paint(text(prompt.scanType.instruction, style, indent: 2), .bold)
        case .reading: text("Reading", style, indent: 5) + (style.ascii ? "..." : "…")
        case .matched(let finger): style.sign(.good) + " " + text(Self.matched(finger), style, indent: 5)
        case .ended(let reason): style.sign(.bad) + " " + text(reason, style, indent: 5)
        }
    }

    static func matched(_ finger: Finger) -> String { "Matched: \(finger.spokenName)." }

    /// Returns the keys with their actions; two titles share the width.
    func keys(_ style: TerminalStyle, hasFallback: Bool = true) -> String {
        let room = style.columns - 2 - "[Esc] ".count
        guard hasFallback, let fallback = prompt.fallbackTitle else {
            return style.paint("[Esc]", .bold) + " " + text(prompt.cancelTitle, style, columns: room)
        }
        let each = max(1, (room - "   [Tab] ".count) / 2)
        return style.paint("[Esc]", .bold) + " " + text(prompt.cancelTitle, style, columns: each) + "   "
            + style.paint("[Tab]", .bold) + " " + text(fallback, style, columns: each)
    }

    func text(_ text: String, _ style: TerminalStyle, indent: Int = 0) -> String {
        self.text(text, style, columns: style.columns - indent)
    }

    private func text(_ text: String, _ style: TerminalStyle, columns: Int) -> String {
        TerminalText.line(text, columns: columns, ascii: style.ascii)
    }
}

extension PromptState {
    /// Returns the first lines of the prompt on an output that cannot be redrawn.
    package func opening(_ style: TerminalStyle) -> [String] {
        [text(prompt.title, style) + ":" + " " + text(prompt.reason, style)]
            + (prompt.readerKind.warning.map { [$0] } ?? [])
    }

    /// Returns the line for one update on an output that cannot be redrawn; `nil` for no line.
    package func line(for update: PromptUpdate, _ style: TerminalStyle) -> String? {
        switch update {
        case .scan(.touch): prompt.scanType.instruction
        case .scan(.finger): nil
        case .scan(.retry(let reason)): reason.hint
        case .scan(.stage(let completed, let total)): "\(completed) of \(total)."
        case .noMatch(let remaining): Self.noMatch(remaining: remaining)
        case .matched(let finger): Self.matched(finger)
        case .ended(let reason): text(reason, style)
        }
    }
}
