// SPDX-License-Identifier: Apache-2.0

/// The course of a login, without a socket and a window: what happens goes in, what to do comes out.
///
/// The decision about a person is greetd's. This value asks for a session only after greetd has said that the login which
/// is on the screen has succeeded, and cancels a login that succeeds after its person has gone.
public struct Greeting: Sendable {
    /// The events.
    public enum Event: Sendable {
        /// A line was typed on the first page.
        case name(String)
        /// The person who has checked in wants to go on to the till.
        case till
        /// An answer to PAM's question was typed.
        case typed(SecretText)
        /// The person wants to go back.
        case escape
        /// Timed out.
        case idle
        /// The reason was on the screen for long enough.
        case reasonRead
        /// The pause after an unknown number is over.
        case paused
        /// An answer of greetd came.
        case answer(Answer)
        /// greetd has gone, or says what cannot be read.
        case lost
    }

    /// The steps that follow an event.
    public enum Step: Sendable {
        /// The request is sent.
        case send(Request)
        /// An event comes after so many seconds, until which nothing is taken.
        case pause(seconds: Int)
        /// The program ends: with 0 for a session that begins, else greetd starts it again.
        case end(status: Int32)
    }

    /// The requests whose answers are waited for; greetd takes one at a time.
    private enum Awaited { case login, start, cancellation }

    /// The content of the screen.
    public private(set) var screen = Screen()
    private let configuration: Configuration
    private let badges: Badges
    private var awaited: Awaited?
    /// The line that was typed while a person who has checked in was on the screen.
    private var next: String?
    /// The name of the login, which is not shown before PAM has let the person in.
    private var name = ""
    /// The sentences of the login.
    private var heard = Sentences.Heard()
    /// The numbers in a row that no badge has.
    private var unknownNumbers = 0
    /// The longest pause after an unknown number, in seconds.
    private static let longestPause = 60

    /// Begins with the first page.
    ///
    /// - Parameters:
    ///   - configuration: The administrator's choices.
    ///   - badges: The badges that are known.
    public init(_ configuration: Configuration, _ badges: Badges) {
        (self.configuration, self.badges) = (configuration, badges)
    }

    /// Begins with the page that tells of a wrong file; no one is let in.
    ///
    /// - Parameter fault: The fault.
    public init(fault: FileFault) {
        self.init(Configuration(), Badges())
        screen.page = .broken
        screen.sentence = fault.sentence
    }

    /// Takes an event.
    ///
    /// - Parameter event: The event.
    /// - Returns: The step that follows; `nil` for none.
    public mutating func take(_ event: Event) -> Step? {
        switch event {
        case .lost: return .end(status: 1)
        case .answer(let answer): return take(answer)
        case .reasonRead: screen.reason = ""
        case .paused:
            guard screen.page == .pause else { return nil }
            screen = Screen()
            screen.reason = Sentences.unknownBadge
        case .name(let line):
            guard awaited == nil else { return nil }
            if screen.page == .ask { return begin(line) }
            guard screen.page == .arrived else { return nil }
            next = line
            return cancel(because: "")
        case .till:
            guard screen.offersTill, let till = configuration.tillCommand else { return nil }
            return start(till)
        case .typed(let text):
            guard screen.page == .question || screen.page == .password, awaited == nil else { return nil }
            show(.wait, Sentences.checking)
            heard.isAnswered = true
            return post(text)
        case .escape: return leave(because: "")
        case .idle:
            if screen.waitsForKeys { return leave(because: screen.takesNames ? "" : Sentences.idle) }
        }
        return nil
    }

    private mutating func show(_ page: Screen.Page, _ sentence: String) {
        (screen.page, screen.sentence) = (page, sentence)
    }

    private mutating func begin(_ line: String) -> Step? {
        switch Person(typed: line, badges) {
        case .none: screen.reason = Sentences.noName
        case .unknownBadge:
            // Each number in a row costs a second more than the one before.
            unknownNumbers += 1
            screen = Screen()
            show(.pause, Sentences.beginning)
            return .pause(seconds: min(unknownNumbers, Self.longestPause))
        case .name(let name):
            screen = Screen()
            self.name = name
            show(.wait, Sentences.beginning)
            heard = Sentences.Heard()
            awaited = .login
            return .send(.create(name: name))
        }
        return nil
    }

    private mutating func post(_ text: SecretText) -> Step {
        awaited = .login
        return .send(.answer(text))
    }

    /// Starts a session of the person who was let in.
    private mutating func start(_ command: String) -> Step {
        awaited = .start
        screen.offersTill = false
        screen.person = name
        show(.farewell, Sentences.welcome)
        return .send(.start(command: command))
    }

    /// Shows that the person was let in; the login ends without a session unless the till is asked for.
    private mutating func arrive() -> Step? {
        awaited = nil
        unknownNumbers = 0
        screen.person = name
        screen.offersTill = configuration.till != nil
        show(.arrived, Sentences.arrived)
        return nil
    }

    /// Ends the login, and shows the first page when greetd has confirmed it.
    private mutating func cancel(because reason: String) -> Step {
        awaited = .cancellation
        screen.offersTill = false
        show(.leaving, Sentences.leaving)
        screen.reason = reason
        return .send(.cancel)
    }

    /// Goes back to the first page, as soon as greetd takes a request.
    private mutating func leave(because reason: String) -> Step? {
        switch screen.page {
        case .ask: screen.reason = ""
        case .question, .password, .arrived: return cancel(because: reason)
        case .wait: show(.leaving, Sentences.leaving)
        case .pause, .leaving, .farewell, .broken: break
        }
        return nil
    }

    private mutating func take(_ answer: Answer) -> Step? {
        switch awaited {
        case .login: return login(answer)
        case .start:
            if answer == .success { return .end(status: 0) }
            return cancel(because: Sentences.notStarted(answer))
        case .cancellation:
            // Whatever greetd says to it, no login is under way now.
            awaited = nil
            let reason = screen.reason
            screen = Screen()
            screen.reason = reason
            defer { next = nil }
            return next.flatMap { begin($0) }
        // An answer to no question: whose it is cannot be told.
        case nil: return .end(status: 1)
        }
    }

    private mutating func login(_ answer: Answer) -> Step? {
        guard screen.page != .leaving else { return cancel(because: "") }
        switch answer {
        case .success: return configuration.mode == .counter ? arrive() : start(configuration.sessionCommand)
        case .refused: return cancel(because: heard.reason)
        case .failed(let text): return cancel(because: Sentences.failed(text))
        case .sentence(.info, let text):
            heard.add(text)
            show(.wait, text)
            return .send(.confirmation)
        case .sentence(.error, let text):
            heard.verdict = text
            show(.wait, text)
            return .send(.confirmation)
        case .sentence(let kind, let text):
            guard configuration.takesPasswords else { return cancel(because: heard.reason) }
            awaited = nil
            show(kind == .secret ? .password : .question, text)
            return nil
        }
    }
}
