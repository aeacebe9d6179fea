// SPDX-License-Identifier: Apache-2.0

/// The features of the output that the prompt may use.
package struct TerminalStyle: Sendable, Hashable {
    /// The number of columns that a line may take.
    package var columns: Int
    /// Whether lines may be redrawn in place.
    package var redraws: Bool
    /// Whether colours and bold letters may be used.
    package var colours: Bool
    /// Whether only ASCII may be written.
    package var ascii: Bool

    package init(columns: Int, redraws: Bool, colours: Bool, ascii: Bool) {
        self.columns = columns
        self.redraws = redraws
        self.colours = colours
        self.ascii = ascii
    }

    /// The style of a file or a pipe: no escapes, UTF-8, and long lines.
    package static let plain = TerminalStyle(columns: 400, redraws: false, colours: false, ascii: false)

    /// Creates the style of a terminal from its number of columns and the environment variables.
    ///
    /// `NO_COLOR` (present and not empty) and `TERM=dumb` turn colours off; `TERM=dumb` also turns off redrawing. A
    /// locale that is not UTF-8 limits the output to ASCII.
    package init(terminalOfColumns columns: Int, environment: [String: String]) {
        let dumb = (environment["TERM"] ?? "dumb") == "dumb"
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.uppercased()
        self.init(
            // The last column stays empty: some terminals wrap as soon as it is written.
            columns: max(20, (columns > 0 ? columns : 80) - 1),
            redraws: !dumb,
            colours: !dumb && (environment["NO_COLOR"] ?? "").isEmpty,
            ascii: !(name.contains("UTF-8") || name.contains("UTF8"))
        )
    }

    /// Returns the text in this ink, if colours may be used.
    package func paint(_ text: String, _ ink: Ink) -> String {
        colours ? "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The colours and weights that are used; the numbers are ECMA-48's SGR parameters.
    package enum Ink: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    /// The mark before a line, by the outcome that the line reports.
    package enum Mark: Sendable {
        case good, bad, warning, neutral
    }

    /// Returns the sign for an outcome.
    package func sign(_ mark: Mark) -> String {
        switch mark {
        case .good: paint(ascii ? "ok" : "✓", .green)
        case .bad: paint(ascii ? "no" : "✗", .red)
        case .warning: paint("!", .yellow)
        case .neutral: paint(ascii ? "--" : "–", .faint)
        }
    }

    /// Returns a bar with a place for each presentation, at most 10 places wide, and the two numbers.
    func line(_ progress: PromptState.Progress) -> String {
        let total = max(progress.total, 1)
        let places = min(total, 10)
        let filled = min(max(progress.completed, 0), total) * places / total
        let full = String(repeating: ascii ? "#" : "█", count: filled)
        let empty = String(repeating: ascii ? "." : "░", count: places - filled)
        return paint(full, .cyan) + paint(empty, .faint) + " \(progress.completed)/\(progress.total)"
    }
}
