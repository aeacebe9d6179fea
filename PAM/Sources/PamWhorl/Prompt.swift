// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// One prompt: it waits for a touch, and on a terminal for a password too, with one thread and `poll(2)`.
@safe struct Prompt: ~Copyable {
    /// The time that the service has for its first word before a person without a terminal is asked for a password.
    static let patience: Int64 = 3000
    /// The time for which the service may say that no finger is asked for before a terminal shows the prompt.
    static let silence: Int64 = 250
    /// The time for which somebody may rest in the middle of a password after no touch is waited for any longer.
    static let rest: Int64 = 60_000

    private let options: Options
    /// The call that asks for the touch.
    private let verify: Bytes
    /// The process of polkit's agent, which lies beside it; -1 without one.
    private let agent: Int32
    /// PAM's handle, by whose conversation sentences are shown where there is no terminal.
    private let handle: OpaquePointer

    private var connection: Connection
    private var terminal: Terminal?
    /// The terminal's descriptor; -1 without one.
    private let keyboard: Int32
    private var race: Race
    private let begin = whorl_milliseconds()
    private var isShown = false
    /// The first sentence of the service, which says how to touch the reader.
    private var instruction: Bytes?
    private var lastKey: Int64 = 0

    /// Begins; `nil` where the service is not there.
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

    /// The password that was typed, for ``Outcome/typed``, as a C string.
    @unsafe var password: UnsafeRawPointer? { unsafe race.line.text }

    /// The file with the login password that came with the match; -1 without one.
    var file: Int32 { connection.file }

    /// The sentence with which the service refused, where the person should know it.
    var farewell: Bytes? { race.farewell }

    /// Waits for the end.
    mutating func run() -> Outcome {
        let signals = HeldSignals()
        // Without a descriptor for them a signal would end the program before the terminal shows keys again.
        let outcome = signals.descriptor < 0 ? .unavailable : wait(signals)
        if isShown { terminal?.endLine() }
        terminal?.show(dropping: outcome != .typed)
        if outcome != .typed { race.line.clear() }
        // The terminal is in order before a signal is let through.
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

    /// The time at which no touch is waited for any longer.
    private var deadline: Int64 {
        // The service has the same limit, and says more at its end.
        if terminal == nil, instruction == nil { return begin + Self.patience }
        return begin + Int64(options.timeout) * 1000 + 1000
    }

    /// The milliseconds until something has to be looked at.
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
        // What comes without end is read in turns, so that the person's keys are read too.
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

    /// Shows a sentence of the service; on a terminal the prompt itself stands for the instruction.
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
