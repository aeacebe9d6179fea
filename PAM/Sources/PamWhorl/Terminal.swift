// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// The controlling terminal while a password can be typed.
///
/// Echo is off, and the terminal is restored at the end.
struct Terminal: ~Copyable {
    let descriptor: Int32
    private var before = termios()
    private var isHidden = false

    /// Opens the terminal that PAM reports, if it is the controlling one and this process is in its foreground.
    ///
    /// A host without a terminal, such as a desktop's agent, reports none or another one, because its users type
    /// elsewhere.
    init?(named name: Bytes) {
        let path = name.first == UInt8(ascii: "/") ? name : Bytes("/dev/") + name
        let opened = unsafe whorl_terminal(path.terminated)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit {
        if isHidden { unsafe withUnsafePointer(to: before) { unsafe whorl_terminal_show(descriptor, $0, 1) } }
        close(descriptor)
    }

    /// Turns off echo.
    ///
    /// `false` if the terminal does not support that, in which case no password must be typed.
    mutating func hide() -> Bool {
        isHidden = unsafe whorl_terminal_hide(descriptor, &before) == 0
        return isHidden
    }

    /// Turns on echo.
    ///
    /// - Parameter dropping: Whether unread keys are dropped because they may be the rest of a password.
    mutating func show(dropping: Bool) {
        guard isHidden else { return }
        unsafe withUnsafePointer(to: before) { unsafe whorl_terminal_show(descriptor, $0, dropping ? 1 : 0) }
        isHidden = false
    }

    /// The keys that edit a line on this terminal.
    var keys: LineEditor.Keys {
        var keys = LineEditor.Keys()
        var now = termios()
        guard unsafe tcgetattr(descriptor, &now) == 0 else { return keys }
        keys.erase = now.c_cc.2
        keys.kill = now.c_cc.3
        keys.end = now.c_cc.4
        return keys
    }

    /// The next key; `nil` if there is none now, -2 if the terminal was closed.
    func key() -> Int32? {
        let key = whorl_key(descriptor)
        return key == -1 ? nil : key
    }

    /// Shows the prompt for the password or a touch, in the host's language.
    ///
    /// A blocked terminal does not stop the login.
    func ask() { whorl_ask(descriptor, nil) }

    /// Shows a message on a separate line, and shows the prompt again.
    func ask(after sentence: Bytes) { unsafe whorl_ask(descriptor, sentence.terminated) }

    /// Ends the line of the prompt.
    func endLine() { unsafe whorl_show(descriptor, "\n") }
}

/// The signals that end or stop this process, held back until the terminal is restored.
struct HeldSignals: ~Copyable {
    let descriptor: Int32
    private var before = sigset_t()

    init() { descriptor = unsafe whorl_signals_hold(&before) }

    /// Delivers the signals.
    ///
    /// A signal that has arrived ends or stops this process here, or the host handles it.
    consuming func letThrough() {}

    deinit { unsafe withUnsafePointer(to: before) { unsafe whorl_signals_release(descriptor, $0) } }

    /// Whether the signal that has arrived suspends a job instead of ending it.
    var isStop: Bool { whorl_signals_stop() == 1 }
}
