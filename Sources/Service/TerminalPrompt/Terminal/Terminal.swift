// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The two ends of a terminal, or a file in the place of the one that is written to.
///
/// It owns neither descriptor unless it opened them itself.
package struct Terminal: Sendable {
    /// Where the prompt is written.
    let output: CInt
    /// Where keys come from; `nil` when there are none.
    let input: CInt?
    /// Whether a person at it can see the prompt and press keys.
    let isInteractive: Bool

    /// Standard error, and its terminal's keys where it is one and this process is in the foreground.
    package static func standardError() -> Terminal { Terminal(output: STDERR_FILENO) }

    /// The terminal that the process belongs to, else standard error.
    ///
    /// It serves programs whose standard error goes to a log while a person sits at the terminal.
    static func controlling() -> Terminal {
        let standardError = standardError()
        guard !standardError.isInteractive, let tty = controllingDescriptor else { return standardError }
        let terminal = Terminal(output: tty)
        return terminal.isInteractive ? terminal : standardError
    }

    /// What is written to, with keys only if it is the terminal of this foreground process.
    init(output: CInt) {
        self.output = output
        isInteractive = isatty(output) == 1 && tcgetpgrp(output) == getpgrp()
        input = isInteractive ? (Self.controllingDescriptor ?? output) : nil
    }

    /// A terminal that is taken as it is, for tests on a pseudo-terminal.
    package init(testing descriptor: CInt) {
        output = descriptor
        input = descriptor
        isInteractive = true
    }

    /// The process's own terminal, opened once: keys come from it even when standard input is a pipe.
    private static let controllingDescriptor: CInt? = {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return descriptor >= 0 ? descriptor : nil
    }()

    /// What may be written now; the width is asked anew, since a window changes its size.
    func style(environment: [String: String]) -> TerminalStyle {
        guard isatty(output) == 1 else { return .plain }
        var size = winsize()
        let known = ioctl(output, UInt(TIOCGWINSZ), &size) == 0
        return TerminalStyle(terminalOfColumns: known ? Int(size.ws_col) : 80, environment: environment)
    }

    /// Writes all of the text.
    ///
    /// What a terminal that has gone away does not take is dropped: a prompt is for the eye.
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

/// This process's environment, for the style of a terminal.
package func terminalEnvironment() -> [String: String] {
    var values: [String: String] = [:]
    for name in ["TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
        if let value = getenv(name) { values[name] = String(cString: value) }
    }
    return values
}

extension TerminalStyle {
    /// The style of an answer on standard output: colours on a terminal, nothing is drawn again.
    package static func onStandardOutput() -> TerminalStyle {
        Terminal(output: STDOUT_FILENO).style(environment: terminalEnvironment())
    }
}
