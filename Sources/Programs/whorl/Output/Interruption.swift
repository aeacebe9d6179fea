// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import WhorlSupport

/// Cancels the program's work when a signal asks the program to terminate.
///
/// The first signal cancels the work, so that the reader is closed and the terminal restored. A second one ends the
/// process.
enum Interruption {
    private struct State {
        var status: ExitStatus?
        var cancel: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())

    /// The descriptor to which the signal handlers write the signal's number.
    ///
    /// It is set before the handlers are installed, and never closed. It is an unprotected variable, because a signal
    /// handler must not take a lock.
    ///
    /// `sigwait` cannot be used here, because the main thread of a Swift program sleeps in libdispatch with all signals
    /// unblocked.
    nonisolated(unsafe) private static let notices = allocated(CInt(-1))

    /// Starts handling signals; must be called before any work begins.
    ///
    /// A signal that the parent process has set to be ignored (as `nohup` does, or a shell for a background job) stays
    /// ignored.
    static func listen() {
        signal(SIGPIPE, SIG_IGN)
        guard let ends = PipeEnds() else { return }
        notices.pointee = ends.writeEnd
        requireThread("whorl-signals") { [source = ends.readEnd] in
            while let number = next(from: source) { end(by: status(of: number)) }
        }
        // SIGQUIT is handled because its default action would leave the terminal without echo.
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] where !isIgnored(number) { handle(number) }
    }

    /// Returns the exit status for a signal.
    ///
    /// The first two signals are sent by keys on a terminal (^C and ^\), and mean that the user cancelled.
    private static func status(of number: CInt) -> ExitStatus {
        [SIGINT, SIGQUIT].contains(number) ? .userCancel : .systemCancel
    }

    private static func handle(_ number: CInt) {
        var action = sigaction()
        action.sa_flags = SA_RESTART
        // write(2) is async-signal-safe (signal-safety(7)); the number fits a byte.
        action.__sigaction_handler.sa_handler = { number in
            var byte = UInt8(truncatingIfNeeded: number)
            let before = errno
            _ = write(Interruption.notices.pointee, &byte, 1)
            errno = before
        }
        sigaction(number, &action, nil)
    }

    private static func next(from source: CInt) -> CInt? {
        var byte: UInt8 = 0
        while true {
            let got = read(source, &byte, 1)
            if got == 1 { return CInt(byte) }
            guard got < 0, errno == EINTR else { return nil }
        }
    }

    private static func allocated(_ value: CInt) -> UnsafeMutablePointer<CInt> {
        let memory = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
        memory.initialize(to: value)
        return memory
    }

    /// Cancels the work, because the output can no longer be written.
    static func outputIsGone() {
        interrupt(.systemCancel)
    }

    /// The exit status after an interruption; `nil` if there was none.
    static var status: ExitStatus? { state.withLock(\.status) }

    /// Runs `work`, and cancels it if the program is interrupted.
    static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await work() }
        let isLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.status != nil
        }
        if isLate { task.cancel() }
        return await task.value
    }

    private static func end(by status: ExitStatus) {
        let isFirst = interrupt(status)
        // exit(3), not _exit(2), because a prompt restores the terminal on exit.
        if !isFirst { exit(status.rawValue) }
    }

    @discardableResult
    private static func interrupt(_ status: ExitStatus) -> Bool {
        let (isFirst, cancel) = state.withLock { state in
            let isFirst = state.status == nil
            if isFirst { state.status = status }
            return (isFirst, state.cancel)
        }
        if isFirst { cancel?() }
        return isFirst
    }

    private static func isIgnored(_ number: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0, action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
