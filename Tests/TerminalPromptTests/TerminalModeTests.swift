// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import WhorlTerminalPrompt

/// A program that handles no signals itself must not leave its terminal without echo.
struct TerminalModeTests {
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal that ends the program gives the terminal back`(signal: CInt) async throws {
        let pty = try PseudoTerminal()
        let number = pty.number
        let expected: ExitTest.Condition = .signal(signal)
        await #expect(processExitsWith: expected) { [number = number as CInt, signal = signal as CInt] in
            Self.quiet(number)
            // To the process, since a thread of Swift's pool blocks signals. It ends within the wait.
            kill(getpid(), signal)
            while true { pause() }
        }
        #expect(pty.isOrdinary)
    }

    @Test func `leaving the program gives the terminal back`() async throws {
        let pty = try PseudoTerminal()
        let number = pty.number
        await #expect(processExitsWith: .exitCode(7)) { [number = number as CInt] in
            Self.quiet(number)
            exit(7)
        }
        #expect(pty.isOrdinary)
    }

    /// Taking memory and opening files is not allowed in a handler (signal-safety(7)).
    @Test func `a resumption's handler opens nothing, also before a key reader is there`() async throws {
        let pty = try PseudoTerminal()
        let number = pty.number
        await #expect(processExitsWith: .success) { [number = number as CInt] in
            Self.quiet(number)
            // Without those that other threads open for a moment.
            let before = (0..<20).reduce(Int.max) { fewest, _ in
                usleep(5000)
                return min(fewest, Self.openFiles)
            }
            errno = ENOSPC
            raise(SIGCONT)
            let error = errno
            // What other threads have opened for a moment is closed soon; what the handler opens stays.
            let deadline = ContinuousClock.now + .seconds(20)
            while Self.openFiles > before, ContinuousClock.now < deadline { usleep(5000) }
            exit(error == ENOSPC && Self.openFiles <= before ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// The number of open files.
    private static var openFiles: Int {
        (0..<CInt(256)).filter { fcntl($0, F_GETFD) >= 0 }.count
    }

    /// Turns echo off, and ends the process with 99 when that did not happen.
    private static func quiet(_ number: CInt) {
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard let mode = TerminalMode(terminal) else { exit(98) }
        var settings = termios()
        tcgetattr(terminal, &settings)
        guard settings.c_lflag & tcflag_t(ECHO) == 0 else { exit(99) }
        keep(mode)
    }

    /// Lets the mode live until the process ends.
    private static func keep(_ mode: consuming TerminalMode) {
        let place = UnsafeMutablePointer<TerminalMode>.allocate(capacity: 1)
        place.initialize(to: mode)
    }
}
