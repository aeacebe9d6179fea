// SPDX-License-Identifier: Apache-2.0

import CKioskGTK
import Glibc
import Kiosk

/// The greeter, which passes events between the screen, the state machine, and greetd.
///
/// It runs on GTK's thread.
@MainActor
final class Greeter {
    /// The greeter of this program, for GTK's callbacks.
    private(set) static var running: Greeter?

    /// The number of seconds after which PAM is considered stuck.
    ///
    /// It is longer than PAM's longest wait for a touch.
    private static let patience = 360

    private let configuration: Configuration
    private var greeting: Greeting
    private var connection: Connection?
    private let widgets = Widgets()
    private let idle = Alarm()
    private let reason = Alarm()
    private let pause = Alarm()

    init(_ configuration: Configuration, _ greeting: Greeting) {
        (self.configuration, self.greeting) = (configuration, greeting)
    }

    /// Connects to greetd and shows the first page.
    func begin() {
        Greeter.running = self
        connection = Connection { [weak self] event in self?.take(event) }
        guard connection != nil else { Program.fail("Cannot connect to greetd.") }
        widgets.connect(to: self)
        show(greeting.screen)
        widgets.beginTyping(on: greeting.screen.page)
        widgets.present()
    }

    func submitName() {
        guard greeting.screen.takesNames else { return submitAnswer() }
        let typed = widgets.typedName
        widgets.clear()
        if !typed.isEmpty { take(.name(typed)) }
    }

    func submitAnswer() {
        guard let text = widgets.takeAnswer(on: greeting.screen.page) else { return }
        take(.typed(text))
    }

    func escape() {
        widgets.clear()
        take(.escape)
    }

    func openTill() { take(.till) }

    /// Gives the user more time.
    ///
    /// A user who has checked in gets none, so that no one keeps that page open for the till.
    func keyCame() { if greeting.screen.waitsForKeys, greeting.screen.page != .arrived { restartIdle() } }

    private func take(_ event: Greeting.Event) {
        let before = greeting.screen
        let step = greeting.take(event)
        let screen = greeting.screen
        if screen != before { show(screen) }
        if screen.page == .arrived, before.page != .arrived { Program.write("checked in: \(screen.person)") }
        if screen.page != before.page, screen.waitsForKeys { widgets.beginTyping(on: screen.page) }
        switch step {
        case .send(let request): connection?.send(request)
        case .pause(let seconds): pause.set(seconds: seconds) { [weak self] in self?.take(.paused) }
        case .end(let status): exit(status)
        case nil: break
        }
    }

    private func show(_ screen: Screen) {
        widgets.show(screen, title: configuration.title)
        Program.write("page=\(screen.page.rawValue) sentence=\(screen.sentence) reason=\(screen.reason)")
        restartIdle()
        if screen.reason.isEmpty || screen.page != .ask {
            reason.stop()
        } else {
            reason.set(seconds: configuration.reason) { [weak self] in self?.take(.reasonRead) }
        }
    }

    private func restartIdle() {
        let screen = greeting.screen
        if screen.page == .broken { return idle.stop() }
        guard screen.waitsForKeys else {
            return idle.set(seconds: Self.patience) { Program.fail("PAM or greetd is not responding.") }
        }
        idle.set(seconds: screen.page == .arrived ? configuration.reason : configuration.idle) {
            [weak self] in
            self?.widgets.clear()
            self?.take(.idle)
        }
    }
}
