// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// A terminal mode in which echo and line input are turned off while a prompt is shown.
///
/// The terminal's settings are always restored: when the prompt ends, when the program exits, and when a signal ends or
/// stops it. Signals that the program itself handles are left alone. SIGKILL cannot be caught.
///
/// If a passcode can be typed, earlier input is discarded because it was visible. Input that is still unread at the end
/// is also discarded, because the rest of a passcode would otherwise become the shell's next command. Only one prompt
/// at a time reads keys, so a second prompt does not have any keys.
struct TerminalMode: ~Copyable {
    /// Whether a prompt is using the terminal of this process.
    private static let held = Mutex(false)

    /// The terminal.
    ///
    /// It is set last, so that `deinit` does not run if the initializer fails.
    private let descriptor: CInt

    /// Changes the terminal's settings.
    ///
    /// Fails if another prompt is using the terminal, or if the terminal does not have such settings.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal.
    ///   - takesPasscode: Whether a passcode can be typed.
    init?(_ descriptor: CInt, takesPasscode: Bool = false) {
        let isFree = Self.held.withLock { held in
            defer { held = true }
            return !held
        }
        guard isFree else { return nil }
        guard Self.save(descriptor) else {
            Self.held.withLock { $0 = false }
            return nil
        }
        Saved.dropsInput.pointee = takesPasscode
        Saved.watchSignals()
        Saved.apply()
        Saved.dropInput()
        self.descriptor = descriptor
    }

    deinit {
        Saved.restore()
        Saved.forgetSignals()
        Saved.descriptor.pointee = -1
        Self.held.withLock { $0 = false }
    }

    /// A descriptor that becomes readable when the process continues after it was stopped during a prompt.
    ///
    /// The value is -1 if the system could not create a pipe.
    static var resumptions: CInt { Saved.resumptions.pointee.readEnd }

    /// Turns echo off again after the process has returned to the foreground during a prompt.
    static func takeAgain() { Saved.takeAgain() }

    private static func save(_ descriptor: CInt) -> Bool {
        guard tcgetattr(descriptor, Saved.original) == 0 else { return false }
        Saved.quiet.pointee = Saved.original.pointee
        // Signals stay enabled: ^C is SIGINT, as usual.
        Saved.quiet.pointee.c_lflag &= ~tcflag_t(ECHO | ICANON)
        Saved.descriptor.pointee = descriptor
        return true
    }
}

/// The data that the signal handlers use: plain memory that is set before the handlers are installed.
///
/// The memory is allocated on first use and never freed. Only the `TerminalMode` that uses the terminal writes to it.
/// The handlers only read it, and call only async-signal-safe functions (POSIX, signal-safety(7)).
private enum Saved {
    // Written only by the one `TerminalMode` that uses the terminal, before its handlers are installed and afterwards.
    nonisolated(unsafe) static let descriptor = allocated(CInt(-1))
    nonisolated(unsafe) static let original = allocated(termios())
    nonisolated(unsafe) static let quiet = allocated(termios())
    nonisolated(unsafe) static let dropsInput = allocated(false)
    nonisolated(unsafe) static let resumptions = allocated(ResumptionPipe())
    nonisolated(unsafe) static let previous = allocated(sigaction(), count: 65)
    nonisolated(unsafe) static let watched = allocated(false, count: 65)

    private static func allocated<T>(_ value: T, count: Int = 1) -> UnsafeMutablePointer<T> {
        let memory = UnsafeMutablePointer<T>.allocate(capacity: count)
        memory.initialize(repeating: value, count: count)
        return memory
    }

    static func apply() { set(quiet) }

    static func restore() {
        dropInput()
        set(original)
    }

    /// Discards unread input that may be part of a passcode.
    static func dropInput() {
        guard descriptor.pointee >= 0, dropsInput.pointee else { return }
        withoutStopping { _ = tcflush(descriptor.pointee, TCIFLUSH) }
    }

    private static func set(_ settings: UnsafeMutablePointer<termios>) {
        guard descriptor.pointee >= 0 else { return }
        withoutStopping { _ = tcsetattr(descriptor.pointee, TCSANOW, settings) }
    }

    /// Changes the terminal's settings while blocking SIGTTOU, which would otherwise stop a process in the background.
    private static func withoutStopping(_ change: () -> Void) {
        var block = sigset_t()
        var before = sigset_t()
        sigemptyset(&block)
        sigaddset(&block, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &block, &before)
        change()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Restores the terminal at exit.
    ///
    /// The exit handler is registered once, and has no effect if no prompt is shown.
    private static let atExit: Void = { _ = atexit { Saved.restore() } }()

    static func watchSignals() {
        _ = atExit
        // Each value is created on first use, which allocates memory and opens files. A handler must do neither.
        _ = (descriptor, original, quiet, dropsInput, resumptions, previous, watched)
        for number in ending { install(number) { Saved.giveBack($0) } }
        install(SIGCONT) { _ in
            let before = errno
            Saved.takeAgain()
            Saved.tellResumption()
            errno = before
        }
    }

    static func forgetSignals() {
        for number in ending + [SIGCONT] where watched[Int(number)] {
            sigaction(number, &previous[Int(number)], nil)
            watched[Int(number)] = false
        }
    }

    private static func install(_ number: CInt, _ handler: @escaping @convention(c) (CInt) -> Void) {
        let index = Int(number)
        guard sigaction(number, nil, &previous[index]) == 0, isDefault(previous[index]) else { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        watched[index] = sigaction(number, &action, nil) == 0
    }

    private static func isDefault(_ action: sigaction) -> Bool {
        guard action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0  // SIG_DFL
    }

    /// Restores the terminal's settings, and then lets the signal take its default effect (signal handler).
    private static func giveBack(_ number: CInt) {
        let before = errno
        defer { errno = before }
        restore()
        var action = sigaction()
        var mine = sigaction()
        sigaction(number, &action, &mine)
        var unblock = sigset_t()
        sigemptyset(&unblock)
        sigaddset(&unblock, number)
        raise(number)
        pthread_sigmask(SIG_UNBLOCK, &unblock, nil)
        // A stopped process gets here when it continues. A process that cannot be stopped (its process group is
        // orphaned) gets here immediately. It gets no SIGCONT, and without this call the input would be visible.
        sigaction(number, &mine, nil)
        takeAgain()
    }

    /// Turns echo off again after a stop, unless the process continues in the background (signal handler).
    static func takeAgain() {
        if tcgetpgrp(descriptor.pointee) == getpgrp() { apply() }
    }

    /// Reports that other programs may have written to the terminal (signal handler).
    private static func tellResumption() {
        var byte: UInt8 = 0
        // If the pipe is full, it is already readable.
        _ = write(resumptions.pointee.writeEnd, &byte, 1)
    }
}

/// A pipe from a signal handler to the thread that reads keys.
///
/// Reading and writing never block, and the pipe is never closed.
private struct ResumptionPipe {
    var readEnd: CInt = -1
    var writeEnd: CInt = -1

    init() {
        guard let ends = PipeEnds(isBlocking: false) else { return }
        readEnd = ends.readEnd
        writeEnd = ends.writeEnd
    }
}
