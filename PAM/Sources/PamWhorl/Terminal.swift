// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// The controlling terminal while a password may be typed on it: it shows no keys, and is as before when this goes away.
struct Terminal: ~Copyable {
    let descriptor: Int32
    private var before = termios()
    private var isHidden = false

    /// Opens the terminal that PAM names, if it is the controlling one and this process is in the foreground there.
    ///
    /// A host without a terminal of its own, such as a desktop's agent, names none or another one: its person types
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

    /// Shows no keys from now on; `false` where the terminal cannot do that, and a password is not to be typed.
    mutating func hide() -> Bool {
        isHidden = unsafe whorl_terminal_hide(descriptor, &before) == 0
        return isHidden
    }

    /// Shows keys again.
    ///
    /// - Parameter dropping: Whether keys that were not read are dropped, as the rest of a password.
    mutating func show(dropping: Bool) {
        guard isHidden else { return }
        unsafe withUnsafePointer(to: before) { unsafe whorl_terminal_show(descriptor, $0, dropping ? 1 : 0) }
        isHidden = false
    }

    /// The keys that edit a line here.
    var keys: LineEditor.Keys {
        var keys = LineEditor.Keys()
        var now = termios()
        guard unsafe tcgetattr(descriptor, &now) == 0 else { return keys }
        keys.erase = now.c_cc.2
        keys.kill = now.c_cc.3
        keys.end = now.c_cc.4
        return keys
    }

    /// The next key; `nil` when there is none now, -2 when the terminal is gone.
    func key() -> Int32? {
        let key = whorl_key(descriptor)
        return key == -1 ? nil : key
    }

    /// Asks for the password or a touch, in the host's language; a terminal that takes nothing now stops no login.
    func ask() { whorl_ask(descriptor, nil) }

    /// Shows a sentence on a line of its own, and asks again.
    func ask(after sentence: Bytes) { unsafe whorl_ask(descriptor, sentence.terminated) }

    /// Ends the line with the question.
    func endLine() { unsafe whorl_show(descriptor, "\n") }
}

/// The signals that end or stop this process, held back so that a terminal is put in order first.
struct HeldSignals: ~Copyable {
    let descriptor: Int32
    private var before = sigset_t()

    init() { descriptor = unsafe whorl_signals_hold(&before) }

    /// Lets the signals through: one that has come ends or stops this process here, or the host deals with it.
    consuming func letThrough() {}

    deinit { unsafe withUnsafePointer(to: before) { unsafe whorl_signals_release(descriptor, $0) } }

    /// Whether the signal that has come stops a job, and does not end it.
    var isStop: Bool { whorl_signals_stop() == 1 }
}
