// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Something that updates change and that can be drawn: as a block of lines, or line by line.
package protocol Drawing: Sendable {
    associatedtype Update: Sendable

    /// Takes in what happened.
    mutating func apply(_ update: Update)
    /// All of it, for a terminal that is drawn again.
    func lines(_ style: TerminalStyle) -> [String]
    /// What is said first where nothing is drawn again.
    func opening(_ style: TerminalStyle) -> [String]
    /// What is said about one update where nothing is drawn again; `nil` for nothing.
    func line(for update: Update, _ style: TerminalStyle) -> String?
    /// Whether the last update was the end.
    var isOver: Bool { get }
    /// The update that stands for an end that nobody announced.
    static var interrupted: Update { get }
}

/// A drawing and the place where it is shown.
struct Board<Content: Drawing> {
    private var content: Content
    private var canvas: Canvas
    private let terminal: Terminal
    private let environment: [String: String]

    init(_ content: Content, _ terminal: Terminal, _ environment: [String: String]) {
        self.content = content
        self.terminal = terminal
        self.environment = environment
        canvas = Canvas(terminal)
    }

    /// Shows each update, until they end or the task is cancelled; what stays on the terminal is over.
    ///
    /// - Parameters:
    ///   - updates: What happens.
    ///   - interrupted: The last update, for an end that nobody announced.
    consuming func show(
        _ updates: AsyncStream<Content.Update>,
        interrupted: () -> Content.Update = { Content.interrupted }
    ) async {
        begin()
        for await update in updates { show(update) }
        if !content.isOver { show(interrupted()) }
    }

    private mutating func begin() {
        let style = terminal.style(environment: environment)
        style.redraws ? canvas.draw(content.lines(style)) : write(content.opening(style))
    }

    private mutating func show(_ update: Content.Update) {
        content.apply(update)
        let style = terminal.style(environment: environment)
        if style.redraws {
            canvas.draw(content.lines(style))
        } else if let line = content.line(for: update, style) {
            write([line])
        }
    }

    private func write(_ lines: [String]) {
        terminal.write(lines.map { $0 + "\n" }.joined())
    }
}
