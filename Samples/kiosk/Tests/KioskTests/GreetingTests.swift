// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Kiosk

/// The course of a login, with a simulated greetd.
@Suite struct GreetingTests {
    private static let touch = "Swipe your finger across the reader."

    /// A greeting and its steps, as text.
    private struct Course {
        var greeting: Greeting
        var steps: [String] = []

        init(
            passwords: Bool = false,
            mode: Configuration.Mode = .session,
            till: String? = nil,
            operators: Set<String> = []
        ) throws {
            var configuration = Configuration()
            configuration.mode = mode
            configuration.till = till
            configuration.operators = operators
            configuration.command = "the-session"
            configuration.takesPasswords = passwords
            greeting = Greeting(configuration, try Badges(lines: ["7 ada"], of: "badges"))
        }

        mutating func take(_ events: Greeting.Event...) {
            for event in events {
                switch greeting.take(event) {
                case .send(.create(let name)): steps.append("create \(name)")
                case .send(.answer(let text)):
                    steps.append("answer \(text.read { String(decoding: $0, as: UTF8.self) })")
                case .send(.start(let command)):
                    // After the words that run it in cage.
                    steps.append("start \(command.split(separator: " sh ").last ?? "")")
                case .send(.cancel): steps.append("cancel")
                case .pause(let seconds): steps.append("pause \(seconds)")
                case .end(let status): steps.append("end \(status)")
                case nil: break
                }
            }
        }

        var page: Screen.Page { greeting.screen.page }
        var reason: String { greeting.screen.reason }
    }

    private func secret(_ text: String) -> Greeting.Event { .typed(SecretText(text: text)) }

    @Test func `a touch that greetd takes starts the session of the person on the screen`() throws {
        var course = try Course()
        course.take(.name("7"))
        #expect(course.page == .wait)
        course.take(.answer(.sentence(.info, Self.touch)))
        #expect(course.greeting.screen.sentence == Self.touch)
        // A number does not show a name before the touch.
        #expect(course.greeting.screen.person.isEmpty)
        course.take(.answer(.success))
        #expect(course.page == .farewell && course.greeting.screen.person == "ada")
        course.take(.answer(.success))
        #expect(course.steps == ["create ada", "answer ", "start /bin/sh -c 'the-session'", "end 0"])
    }

    @Test func `without a success of greetd no session is started, whatever else comes`() throws {
        let answers: [Answer] = [
            .refused("no"), .failed("no"), .sentence(.info, "x"), .sentence(.error, "x"),
            .sentence(.secret, "x"),
            .sentence(.visible, "x"),
        ]
        for first in answers {
            for second in answers {
                for passwords in [true, false] {
                    var course = try Course(passwords: passwords)
                    course.take(.name("ada"), .answer(first), .answer(second), .escape, .idle, secret("x"))
                    #expect(!course.steps.contains { $0.hasPrefix("start") })
                }
            }
        }
    }

    @Test func `at a counter a touch checks in, and no session is started`() throws {
        for end in [Greeting.Event.escape, .idle] {
            var course = try Course(mode: .counter)
            course.take(.name("7"), .answer(.sentence(.info, Self.touch)), .answer(.success))
            #expect(course.page == .arrived && course.greeting.screen.person == "ada")
            #expect(!course.greeting.screen.offersTill)
            course.take(.till, end)
            #expect(course.page == .leaving)
            course.take(.answer(.success))
            #expect(course.page == .ask && course.reason.isEmpty && course.greeting.screen.person.isEmpty)
            #expect(course.steps == ["create ada", "answer ", "cancel"])
        }
    }

    @Test func `at a counter the next badge need not wait, and none is lost`() throws {
        var course = try Course(mode: .counter, till: "the-till")
        course.take(.name("ada"), .answer(.success), .name("7"))
        #expect(course.page == .leaving && !course.greeting.screen.offersTill)
        course.take(.name("bob"), .till, .answer(.success))
        #expect(course.page == .wait && course.greeting.screen.person.isEmpty)
        course.take(.answer(.success))
        #expect(course.page == .arrived && course.greeting.screen.person == "ada")
        #expect(course.steps == ["create ada", "cancel", "create ada"])
        course.take(.name("8"), .answer(.success), .paused)
        #expect(course.page == .ask && course.reason == "Unknown badge.")
    }

    @Test func `an operator's touch opens a terminal, at a counter after F2`() throws {
        var course = try Course(operators: ["ada"])
        course.take(.name("7"), .answer(.success), .answer(.success))
        #expect(course.steps == ["create ada", "start foot", "end 0"])
        course = try Course(mode: .counter, operators: ["ada"])
        course.take(.name("bob"), .answer(.success))
        #expect(!course.greeting.screen.offersTill)
        course.take(.till, .name("ada"), .answer(.success), .answer(.success))
        #expect(course.greeting.screen.offersTill)
        course.take(.till, .answer(.success))
        #expect(course.steps == ["create bob", "cancel", "create ada", "start foot", "end 0"])
    }

    @Test func `the till is started for the person who has checked in, and for no one else`() throws {
        var course = try Course(mode: .counter, till: "the-till")
        course.take(.till, .name("ada"), .till, .answer(.sentence(.info, Self.touch)), .till)
        course.take(.answer(.refused("no")), .till, .answer(.success), .till)
        #expect(course.steps == ["create ada", "answer ", "cancel"])
        course.take(.name("ada"), .answer(.success))
        #expect(course.greeting.screen.offersTill)
        course.take(.till)
        #expect(course.page == .farewell)
        course.take(.till, .answer(.success))
        #expect(
            course.steps.suffix(3) == ["create ada", "start foot -- /bin/sh -c 'the-till'", "end 0"]
        )
    }

    @Test func `a touch of a person who has gone checks no one in`() throws {
        var course = try Course(mode: .counter)
        course.take(.name("ada"), .answer(.sentence(.info, Self.touch)), .escape, .answer(.success))
        #expect(course.page == .leaving && course.steps == ["create ada", "answer ", "cancel"])
    }

    @Test func `a stranger is told and brought back, and the next person begins afresh`() throws {
        var course = try Course()
        course.take(.name("ada"), .answer(.sentence(.info, Self.touch)))
        course.take(.answer(.sentence(.info, "Not recognized.")), .answer(.sentence(.secret, "Password: ")))
        #expect(course.page == .leaving)
        course.take(.answer(.success))
        #expect(course.page == .ask && course.reason.contains("Not recognized."))
        #expect(course.greeting.screen.person.isEmpty)
        course.take(.name("bob"))
        #expect(course.reason.isEmpty)
        #expect(course.steps == ["create ada", "answer ", "answer ", "cancel", "create bob"])
    }

    @Test func `the reason tells whether a touch was asked for`() throws {
        var course = try Course()
        course.take(.name("ada"), .answer(.sentence(.secret, "Password: ")), .answer(.success))
        #expect(course.reason.hasPrefix("Touch is not available"))
        course.take(
            .name("ada"),
            .answer(.sentence(.info, Self.touch)),
            .answer(.sentence(.secret, "Password: "))
        )
        course.take(.answer(.failed("whatever")))
        #expect(course.page == .ask && course.reason.contains("the fingerprint service stopped"))
        course.take(.reasonRead)
        #expect(course.reason.isEmpty)
    }

    @Test func `where passwords are taken, one is asked for and handed in`() throws {
        var course = try Course(passwords: true)
        course.take(.name("ada"), .answer(.sentence(.secret, "Password: ")))
        #expect(course.page == .password)
        course.take(secret("hunter"))
        #expect(course.page == .wait)
        course.take(.answer(.refused("wrong")), .answer(.success))
        #expect(course.page == .ask && course.reason == "You were not let in.")
        #expect(course.steps == ["create ada", "answer hunter", "cancel"])
    }

    @Test func `a person who has gone is let in by no late touch`() throws {
        var course = try Course()
        course.take(.name("ada"), .answer(.sentence(.info, Self.touch)), .escape)
        #expect(course.page == .leaving)
        course.take(.name("bob"), .escape, .idle, .answer(.success), .answer(.success))
        #expect(course.page == .ask)
        #expect(course.steps == ["create ada", "answer ", "cancel"])
    }

    @Test func `a password that no one types is no longer asked for`() throws {
        var course = try Course(passwords: true)
        course.take(.name("ada"), .answer(.sentence(.secret, "Password: ")), .idle, secret("late"))
        course.take(.answer(.success))
        #expect(course.page == .ask && course.reason == "Timed out.")
        #expect(course.steps == ["create ada", "cancel"])
    }

    @Test func `a session that cannot begin is a reason on the first page`() throws {
        var course = try Course()
        course.take(.name("ada"), .answer(.success), .answer(.failed("no such shell")), .answer(.success))
        #expect(course.page == .ask && course.reason == "The session could not be started: no such shell")
    }

    @Test func `an answer that no one asked for, and a greetd that is gone, end the program`() throws {
        var course = try Course()
        course.take(.answer(.success))
        #expect(course.steps == ["end 1"])
        course = try Course()
        course.take(.name("ada"), .lost)
        #expect(course.steps == ["create ada", "end 1"])
    }

    @Test func `a badge that is not known, and what is no name, ask greetd nothing`() throws {
        var course = try Course()
        course.take(.name("8"), .paused)
        #expect(course.page == .ask && course.reason == "Unknown badge.")
        course.take(.name("; rm"))
        #expect(
            course.reason == "Not a name or a badge number." && course.steps == ["pause 1"]
        )
    }

    @Test
    func `numbers that are tried one after the other take longer each time, and nothing is taken meanwhile`()
        throws
    {
        var course = try Course()
        for _ in 1...70 {
            course.take(.name("8"))
            #expect(course.page == .pause && course.greeting.screen.reason.isEmpty)
            course.take(.name("7"), .name("ada"), .escape, .idle, .till)
            #expect(course.page == .pause)
            course.take(.paused)
        }
        #expect(course.steps.prefix(3) == ["pause 1", "pause 2", "pause 3"])
        #expect(course.steps.count == 70 && course.steps.suffix(11).allSatisfy { $0 == "pause 60" })
        // If a pause ends late, it does not change another page.
        course.take(.name("7"), .paused)
        #expect(course.page == .wait && course.steps.last == "create ada")
    }

    @Test func `what was wrong is the last word, and not the instruction`() throws {
        let locked = "Your fingers are locked."
        for sentences in [
            [Answer.sentence(.error, locked)], [.sentence(.info, Self.touch), .sentence(.error, locked)],
        ] {
            for end in [Answer.refused("AUTH_ERR"), .sentence(.secret, "Password: ")] {
                var course = try Course()
                course.take(.name("ada"))
                for sentence in sentences { course.take(.answer(sentence)) }
                course.take(.answer(end), .answer(.success))
                #expect(course.page == .ask && course.reason == "You were not let in. \(locked)")
            }
        }
    }

    @Test func `a touch that is refused is a reason, whether or not a password could follow`() throws {
        for end in [Answer.refused("AUTH_ERR"), .sentence(.secret, "Password: ")] {
            var course = try Course()
            course.take(.name("ada"), .answer(end), .answer(.success))
            #expect(course.reason.hasPrefix("Touch is not available"))
            course.take(.name("ada"), .answer(.sentence(.info, Self.touch)), .answer(end), .answer(.success))
            #expect(course.reason.hasPrefix("No finger was recognized in time"))
        }
    }

    @Test func `a wrong file of the administrator's lets no one in`() {
        var greeting = Greeting(fault: FileFault("badges", 3, "this number is there twice"))
        #expect(greeting.screen.sentence == "badges, line 3: this number is there twice")
        let step = greeting.take(.name("ada"))
        #expect(step == nil && greeting.screen.page == .broken)
    }
}
