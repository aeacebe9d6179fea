// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// A prompt that waits for a touch and, on a terminal, also for a password.
///
/// It uses one thread and `poll(2)`.
@safe struct Prompt: ~Copyable {
    /// The time in milliseconds for the service's first message, for a user without a terminal.
    ///
    /// The password prompt follows.
    static let patience: Int64 = 3000
    /// The time in milliseconds for the service to report that no touch is possible, before a terminal shows the
    /// prompt.
    static let silence: Int64 = 250
    /// The time in milliseconds for which the user may pause while typing a password, after the wait for a touch has
    /// ended.
    static let rest: Int64 = 60_000

    private let options: Options
    /// The call that requests the touch.
    private let verify: Bytes
    /// The process of the polkit agent, which is sent with the call; -1 without one.
    private let agent: Int32
    /// PAM's handle, whose conversation shows messages if there is no terminal.
    private let handle: OpaquePointer

    private var connection: Connection
    private var terminal: Terminal?
    /// The terminal's descriptor; -1 without one.
    private let keyboard: Int32
    private var race: Race
    private let begin = whorl_milliseconds()
    private var isShown = false
    /// The first message of the service, which says how to touch the reader.
    private var instruction: Bytes?
    private var lastKey: Int64 = 0

    /// Creates a prompt; `nil` if the service is not running.
    init?(_ login: Login, _ options: Options, _ handle: OpaquePointer) {
        guard let connection = Connection(options) else { return nil }
        self.options = options
        verify = Call.verify(login, options)
        agent = login.agent
        unsafe self.handle = unsafe handle
        let isProven = connection.isProven
        self.connection = connection
        if !options.isFingerOnly, let name = login.terminal, let terminal = Terminal(named: name) {
            race = Race(takesPassword: true, keys: terminal.keys, isProven: isProven)
            keyboard = terminal.descriptor
            self.terminal = consume terminal
        } else {
            race = Race(takesPassword: false, isProven: isProven)
            keyboard = -1
            terminal = nil
        }
    }

    /// The typed password for ``Outcome/typed``, as a C string.
    @unsafe var password: UnsafeRawPointer? { unsafe race.line.text }

    /// The file with a password that came with the match; -1 without one.
    var file: Int32 { connection.file }
    /// Whether this is the keyring's own password, and not the login password.
    var hasKeyringPassword: Bool { race.hasKeyringPassword }

    /// The message with which the service refused, if the user should see it.
    var farewell: Bytes? { race.farewell }

    /// Waits until the prompt ends.
    mutating func run() -> Outcome {
        let signals = HeldSignals()
        // Without a descriptor for signals, a signal would end the program before the terminal echoes keys again.
        let outcome = signals.descriptor < 0 ? .unavailable : wait(signals)
        if isShown { terminal?.endLine() }
        terminal?.show(dropping: outcome != .typed)
        if outcome != .typed { race.line.clear() }
        // The terminal is restored before signals are delivered.
        signals.letThrough()
        return outcome
    }

    private mutating func wait(_ signals: borrowing HeldSignals) -> Outcome {
        guard connection.send(race.firstCall(verify), with: agent) else { return .unavailable }
        var isOpen = true
        while true {
            let now = whorl_milliseconds()
            if !race.isTouchAwaited {
                guard now - lastKey < Self.rest else { return .unavailable }
            } else if now >= deadline, case .end(let outcome) = race.touchEnded() {
                return outcome
            }
            if !isShown, now - begin >= Self.silence, !show() { return .unavailable }
            isOpen = isOpen && race.isTouchAwaited
            let ready = poll(until: next(now), isOpen, signals.descriptor)
            if ready.signals { return signals.isStop ? .stopped : .interrupted }
            if ready.service, let outcome = serve() { return outcome }
            if ready.keys, let outcome = readKey() { return outcome }
        }
    }

    /// The time at which the wait for a touch ends.
    private var deadline: Int64 {
        // The service has the same limit, and its last message says more.
        if terminal == nil, instruction == nil { return begin + Self.patience }
        return begin + Int64(options.timeout) * 1000 + 1000
    }

    /// The number of milliseconds until the next timeout.
    private func next(_ now: Int64) -> Int64 {
        var moment = race.isTouchAwaited ? deadline : lastKey + Self.rest
        if !isShown, terminal != nil, begin + Self.silence < moment { moment = begin + Self.silence }
        return moment > now ? moment - now : 0
    }

    private func poll(
        until milliseconds: Int64,
        _ isOpen: Bool,
        _ signals: Int32
    ) -> (service: Bool, keys: Bool, signals: Bool) {
        let ready = whorl_poll(
            isOpen ? connection.descriptor : -1,
            isShown ? keyboard : -1,
            signals,
            agent,
            Int32(truncatingIfNeeded: milliseconds)
        )
        return (ready & 1 != 0, ready & 2 != 0, ready & 4 != 0)
    }

    private mutating func serve() -> Outcome? {
        // An endless stream is read in batches, so that the user's keys are also read.
        for _ in 0..<16 {
            switch connection.receive() {
            case .nothing: return nil
            case .end: return ended(race.touchEnded())
            case .message(let message):
                let (call, step) = race.message(message, verify)
                if let call, !connection.send(call, with: agent) { return ended(race.touchEnded()) }
                if let outcome = ended(step) { return outcome }
            }
        }
        return nil
    }

    private mutating func readKey() -> Outcome? {
        while let key = terminal?.key() {
            lastKey = whorl_milliseconds()
            guard key >= 0, key <= 255 else { return .unavailable }
            if let outcome = ended(race.key(UInt8(truncatingIfNeeded: key))) { return outcome }
        }
        return nil
    }

    private mutating func ended(_ step: Race.Step) -> Outcome? {
        switch step {
        case .goOn: return nil
        case .end(let outcome): return outcome
        case .show(let sentence):
            let instruction = instruction ?? sentence
            self.instruction = instruction
            return say(sentence, isInstruction: sentence == instruction) ? nil : .unavailable
        }
    }

    /// Shows a message from the service.
    ///
    /// On a terminal, the prompt itself replaces the instruction.
    private mutating func say(_ sentence: Bytes, isInstruction: Bool) -> Bool {
        guard terminal != nil else {
            unsafe whorl_say(handle, PAM_TEXT_INFO, sentence.terminated)
            return true
        }
        guard isShown else { return show() }
        guard !isInstruction else { return true }
        terminal?.ask(after: sentence)
        return true
    }

    /// Shows the prompt on the terminal, if there is one.
    private mutating func show() -> Bool {
        guard terminal != nil else { return true }
        guard terminal?.hide() == true else { return false }
        isShown = true
        terminal?.ask()
        return true
    }
}
