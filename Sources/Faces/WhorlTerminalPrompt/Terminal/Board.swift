// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A value that changes with updates and can be drawn, as a block of lines or line by line.
package protocol Drawing: Sendable {
    associatedtype Update: Sendable

    /// Applies an update.
    mutating func apply(_ update: Update)
    /// Returns all lines, for a terminal that is redrawn.
    func lines(_ style: TerminalStyle) -> [String]
    /// Returns the first lines, for output that is not redrawn.
    func opening(_ style: TerminalStyle) -> [String]
    /// Returns the text for one update, for output that is not redrawn, or `nil` if there is none.
    func line(for update: Update, _ style: TerminalStyle) -> String?
    /// Whether the last update was the final one.
    var isOver: Bool { get }
    /// The update that represents an unannounced end.
    static var interrupted: Update { get }
}

/// A drawing and the terminal that shows it.
final class Board<Content: Drawing>: Sendable {
    private struct Shown {
        var content: Content
        var canvas: Canvas
        /// Whether the drawing has been started and has not ended.
        var isUp = false
    }

    private let shown: Mutex<Shown>
    private let terminal: Terminal
    private let environment: [String: String]

    init(_ content: Content, _ terminal: Terminal, _ environment: [String: String]) {
        self.terminal = terminal
        self.environment = environment
        shown = Mutex(Shown(content: content, canvas: Canvas(terminal)))
    }

    /// Shows the updates until they end or the task is canceled.
    ///
    /// Afterward, a final state remains on the terminal.
    func show(_ updates: some AsyncSequence<Content.Update, Never>) async {
        begin()
        for await update in updates { shown.withLock { show(update, &$0) } }
        end()
    }

    /// Draws everything again below the output of other programs.
    func showAgain() {
        shown.withLock { shown in
            guard shown.isUp else { return }
            shown.canvas = Canvas(terminal)
            begin(&shown)
        }
    }

    private func begin() {
        shown.withLock { shown in
            shown.isUp = true
            begin(&shown)
        }
    }

    private func begin(_ shown: inout Shown) {
        let style = terminal.style(environment: environment)
        style.redraws ? shown.canvas.draw(shown.content.lines(style)) : write(shown.content.opening(style))
    }

    private func show(_ update: Content.Update, _ shown: inout Shown) {
        guard !shown.content.isOver else { return }
        shown.content.apply(update)
        let style = terminal.style(environment: environment)
        if style.redraws {
            shown.canvas.draw(shown.content.lines(style))
        } else if let line = shown.content.line(for: update, style) {
            write([line])
        }
    }

    private func end() {
        shown.withLock { shown in
            show(Content.interrupted, &shown)
            shown.isUp = false
        }
    }

    private func write(_ lines: [String]) {
        terminal.write(lines.map { $0 + "\n" }.joined())
    }
}

/// A canvas that draws lines on a terminal, replacing the lines that it drew before.
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

    /// Returns the text that replaces the `drawn` lines above the cursor with `lines`.
    static func sequence(_ lines: [String], over drawn: Int) -> String {
        let up = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        return "\r" + up + lines.map { "\u{1B}[2K\($0)\r\n" }.joined() + "\u{1B}[J"
    }
}
