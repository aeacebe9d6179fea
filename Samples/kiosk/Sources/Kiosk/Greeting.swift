// SPDX-License-Identifier: Apache-2.0

/// The course of a login as a pure state machine, without a socket or a window.
///
/// greetd decides about the user. The state machine requests a session only after greetd has reported that the login on
/// the screen succeeded. It cancels a login that succeeds after its user has left.
public struct Greeting: Sendable {
    /// The events.
    public enum Event: Sendable {
        /// A line was typed on the first page.
        case name(String)
        /// A user who has checked in wants to use the till.
        case till
        /// An answer to PAM's question was typed.
        case typed(SecretText)
        /// The user wants to go back.
        case escape
        /// Nothing was typed for some time.
        case idle
        /// The reason was shown long enough.
        case reasonRead
        /// The pause after an unknown number is over.
        case paused
        /// greetd sent a response.
        case answer(Answer)
        /// greetd has ended, or sent an invalid message.
        case lost
    }

    /// The steps to take after an event.
    public enum Step: Sendable {
        /// Send the request.
        case send(Request)
        /// Send an event after this number of seconds. Until then, input is ignored.
        case pause(seconds: Int)
        /// End the program: with 0 to start a session, otherwise greetd starts it again.
        case end(status: Int32)
    }

    /// The requests that are waiting for a response.
    ///
    /// greetd accepts one at a time.
    private enum Awaited { case login, start, cancellation }

    /// The content of the screen.
    public private(set) var screen = Screen()
    private let configuration: Configuration
    private let badges: Badges
    private var awaited: Awaited?
    /// The line that was typed while a user who has checked in was shown.
    private var next: String?
    /// The name of the login.
    ///
    /// It is not shown until PAM has authenticated the user.
    private var name = ""
    /// The messages of the login.
    private var heard = Sentences.Heard()
    /// The number of unknown badge numbers in a row.
    private var unknownNumbers = 0
    /// The maximum pause after an unknown number, in seconds.
    private static let longestPause = 60

    /// Starts with the first page.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - badges: The known badges.
    public init(_ configuration: Configuration, _ badges: Badges) {
        (self.configuration, self.badges) = (configuration, badges)
    }

    /// Starts with the page that reports an invalid file.
    ///
    /// No one can log in.
    ///
    /// - Parameter fault: The problem with the file.
    public init(fault: FileFault) {
        self.init(Configuration(), Badges())
        screen.page = .broken
        screen.sentence = fault.sentence
    }

    /// Handles an event.
    ///
    /// - Parameter event: The event.
    /// - Returns: The next step; `nil` for none.
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
            guard screen.offersTill, let till = configuration.tillCommand(of: name) else { return nil }
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
            // Each unknown number in a row adds a second to the pause.
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

    /// Starts a session of the authenticated user.
    private mutating func start(_ command: String) -> Step {
        awaited = .start
        screen.offersTill = false
        screen.person = name
        show(.farewell, Sentences.welcome)
        return .send(.start(command: command))
    }

    /// Shows that the user was authenticated.
    ///
    /// The login ends without a session unless the user opens the till.
    private mutating func arrive() -> Step? {
        awaited = nil
        unknownNumbers = 0
        screen.person = name
        screen.offersTill = configuration.tillCommand(of: name) != nil
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

    /// Returns to the first page as soon as greetd accepts a request.
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
            // Whatever the response is, no login is running now.
            awaited = nil
            let reason = screen.reason
            screen = Screen()
            screen.reason = reason
            defer { next = nil }
            return next.flatMap { begin($0) }
        // A response without a request cannot be attributed to a user.
        case nil: return .end(status: 1)
        }
    }

    private mutating func login(_ answer: Answer) -> Step? {
        guard screen.page != .leaving else { return cancel(because: "") }
        switch answer {
        case .success:
            return configuration.mode == .counter ? arrive() : start(configuration.sessionCommand(of: name))
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
