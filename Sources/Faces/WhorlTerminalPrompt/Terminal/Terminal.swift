// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The output and the input of a terminal.
///
/// The output may also be a file.
///
/// A terminal owns only those descriptors that it has opened itself.
package struct Terminal: Sendable {
    /// The descriptor to which the prompt is written.
    let output: CInt
    /// The descriptor from which keys are read, or `nil` if there are no keys.
    let input: CInt?
    /// Whether a user at the terminal can see the prompt and press keys.
    let isInteractive: Bool

    /// Returns standard error, with keys if standard error is a terminal and this process is in its foreground.
    package static func standardError() -> Terminal { Terminal(output: STDERR_FILENO) }

    /// Returns the process's controlling terminal, or standard error if there is none.
    ///
    /// This is for programs whose standard error is a log while a user is at the terminal.
    package static func controlling() -> Terminal {
        let standardError = standardError()
        guard !standardError.isInteractive, let tty = controllingDescriptor else { return standardError }
        let terminal = Terminal(output: tty)
        return terminal.isInteractive ? terminal : standardError
    }

    /// Creates a terminal for an output.
    ///
    /// The terminal has keys only if the output is a terminal and this process is in its foreground.
    init(output: CInt) {
        self.output = output
        isInteractive = isatty(output) == 1 && tcgetpgrp(output) == getpgrp()
        input = isInteractive ? (Self.controllingDescriptor ?? output) : nil
    }

    /// Creates a terminal from a descriptor without checks, for tests with a pseudo-terminal.
    package init(testing descriptor: CInt) {
        output = descriptor
        input = descriptor
        isInteractive = true
    }

    /// The process's controlling terminal, opened once.
    ///
    /// Keys can be read from it even if standard input is a pipe.
    private static let controllingDescriptor: CInt? = {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return descriptor >= 0 ? descriptor : nil
    }()

    /// Returns the current style of the output.
    ///
    /// The width is read each time, because a window can be resized.
    func style(environment: [String: String]) -> TerminalStyle {
        guard isatty(output) == 1 else { return .plain }
        var size = winsize()
        let known = ioctl(output, UInt(TIOCGWINSZ), &size) == 0
        return TerminalStyle(terminalOfColumns: known ? Int(size.ws_col) : 80, environment: environment)
    }

    /// Writes the whole text.
    ///
    /// If the terminal has been closed, the text is discarded, because a prompt only displays information.
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let put = bytes[done...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if put > 0 {
                done += put
            } else if put == 0 || (errno != EINTR && errno != EAGAIN) {
                return
            } else if errno == EAGAIN {
                var wait = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, 1000)
            }
        }
    }
}

/// Returns this process's environment, for determining the style of a terminal.
package func terminalEnvironment() -> [String: String] {
    var values: [String: String] = [:]
    for name in ["TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
        if let value = getenv(name) { values[name] = String(cString: value) }
    }
    return values
}

extension TerminalStyle {
    /// Returns the style of standard output, which has colors on a terminal and is never redrawn.
    package static func onStandardOutput() -> TerminalStyle {
        Terminal(output: STDOUT_FILENO).style(environment: terminalEnvironment())
    }

    /// Creates the style of a terminal from its number of columns and the environment variables.
    ///
    /// A non-empty `NO_COLOR` and `TERM=dumb` turn off colors. `TERM=dumb` also turns off redrawing. A locale without
    /// UTF-8 limits the output to ASCII.
    package init(terminalOfColumns columns: Int, environment: [String: String]) {
        let dumb = (environment["TERM"] ?? "dumb") == "dumb"
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.uppercased()
        self.init(
            // The last column stays empty, because some terminals wrap as soon as it is written.
            columns: max(20, (columns > 0 ? columns : 80) - 1),
            redraws: !dumb,
            colors: !dumb && (environment["NO_COLOR"] ?? "").isEmpty,
            ascii: !(name.contains("UTF-8") || name.contains("UTF8"))
        )
    }
}

/// The features of the output that the prompt may use.
package struct TerminalStyle: Sendable, Hashable {
    /// The maximum number of columns of a line.
    package var columns: Int
    /// Whether lines can be redrawn in place.
    package var redraws: Bool
    /// Whether colors and bold text may be used.
    package var colors: Bool
    /// Whether only ASCII may be written.
    package var ascii: Bool

    /// The style of a file or a pipe: UTF-8 without escape sequences, in long lines.
    package static let plain = TerminalStyle(columns: 400, redraws: false, colors: false, ascii: false)

    /// Returns the text in the given color or weight, if colors may be used.
    package func paint(_ text: String, _ ink: Ink) -> String {
        colors ? "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The colors and weights of text.
    ///
    /// The numbers are ECMA-48's SGR parameters.
    package enum Ink: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    /// A mark at the start of a line that indicates the outcome that the line reports.
    package enum Mark: Sendable {
        case good, bad, warning, neutral
    }

    /// Returns the symbol for an outcome.
    package func sign(_ mark: Mark) -> String {
        switch mark {
        case .good: paint(ascii ? "ok" : "✓", .green)
        case .bad: paint(ascii ? "no" : "✗", .red)
        case .warning: paint("!", .yellow)
        case .neutral: paint(ascii ? "--" : "–", .faint)
        }
    }

    /// Returns a progress bar with one place for each touch, up to 10 places, followed by the two numbers.
    func line(_ progress: PromptState.Progress) -> String {
        let total = max(progress.total, 1)
        let places = min(total, 10)
        let filled = min(max(progress.completed, 0), total) * places / total
        let full = String(repeating: ascii ? "#" : "█", count: filled)
        let empty = String(repeating: ascii ? "." : "░", count: places - filled)
        return paint(full, .cyan) + paint(empty, .faint) + " \(progress.completed)/\(progress.total)"
    }
}

/// Waits for bytes or the end of input.
///
/// Returns `true` if either one arrived, or `false` after a timeout or a wake-up.
func wait(for descriptor: CInt, or wake: CInt, milliseconds: CInt) -> Bool {
    var ends = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    while true {
        let ready = poll(&ends, nfds_t(ends.count), milliseconds)
        if ready < 0, errno == EINTR { continue }
        return ready > 0 && ends[1].revents == 0
    }
}
