// SPDX-License-Identifier: Apache-2.0

/// A canvas that draws lines on a terminal, each time over its previous lines.
///
/// It uses four control sequences (ECMA-48): CUU (up), EL (clear the line), ED (clear below), and CR.
struct Canvas {
    private let terminal: Terminal
    private var drawn = 0

    init(_ terminal: Terminal) { self.terminal = terminal }

    mutating func draw(_ lines: [String]) {
        terminal.write(Self.sequence(lines, over: drawn))
        drawn = lines.count
    }

    /// Returns the text that replaces the `drawn` lines above the cursor by `lines`.
    static func sequence(_ lines: [String], over drawn: Int) -> String {
        let up = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        return "\r" + up + lines.map { "\u{1B}[2K\($0)\r\n" }.joined() + "\u{1B}[J"
    }
}
