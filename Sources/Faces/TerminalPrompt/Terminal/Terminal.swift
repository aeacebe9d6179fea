// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The output and the input of a terminal, or a file in place of the output.
///
/// It owns a descriptor only if it opened the descriptor itself.
package struct Terminal: Sendable {
    /// The descriptor that the prompt is written to.
    let output: CInt
    /// The descriptor that keys come from; `nil` if there are none.
    let input: CInt?
    /// Whether a person at the terminal can see the prompt and press keys.
    let isInteractive: Bool

    /// Returns standard error, with keys if it is a terminal and this process is in its foreground.
    package static func standardError() -> Terminal { Terminal(output: STDERR_FILENO) }

    /// Returns the terminal that the process belongs to, else standard error.
    ///
    /// It serves programs whose standard error goes to a log while a person sits at the terminal.
    static func controlling() -> Terminal {
        let standardError = standardError()
        guard !standardError.isInteractive, let tty = controllingDescriptor else { return standardError }
        let terminal = Terminal(output: tty)
        return terminal.isInteractive ? terminal : standardError
    }

    /// Creates a terminal for an output, with keys only if it is the terminal of this foreground process.
    init(output: CInt) {
        self.output = output
        isInteractive = isatty(output) == 1 && tcgetpgrp(output) == getpgrp()
        input = isInteractive ? (Self.controllingDescriptor ?? output) : nil
    }

    /// Creates a terminal from a descriptor without checks, for tests on a pseudo-terminal.
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

    /// Returns the present style of the output; the width is read each time, since a window can change its size.
    func style(environment: [String: String]) -> TerminalStyle {
        guard isatty(output) == 1 else { return .plain }
        var size = winsize()
        let known = ioctl(output, UInt(TIOCGWINSZ), &size) == 0
        return TerminalStyle(terminalOfColumns: known ? Int(size.ws_col) : 80, environment: environment)
    }

    /// Writes all of the text.
    ///
    /// Text that a closed terminal does not accept is dropped: a prompt only displays.
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

/// Returns this process's environment, for the style of a terminal.
package func terminalEnvironment() -> [String: String] {
    var values: [String: String] = [:]
    for name in ["TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
        if let value = getenv(name) { values[name] = String(cString: value) }
    }
    return values
}

extension TerminalStyle {
    /// Returns the style of an answer on standard output: colours on a terminal, without redrawing.
    package static func onStandardOutput() -> TerminalStyle {
        Terminal(output: STDOUT_FILENO).style(environment: terminalEnvironment())
    }
}
