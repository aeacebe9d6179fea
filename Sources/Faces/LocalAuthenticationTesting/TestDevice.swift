// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Foundation
internal import WhorlSupport
internal import MockReader
public import WhorlFingerprint
package import WhorlService

/// A simulated machine with a fingerprint reader, a person and a chip, for the tests of an app.
///
///     @Test func `the safe opens for its owner`() async throws {
///         let device = TestDevice()                       // a reader, one enrolled finger, a passcode
///         try await device.run {
///             device.next(.noMatch, .match)               // what the person does at the prompt
///             try await Safe().open()                     // the app's own code, which makes an LAContext
///         }
///     }
///
/// Everything but the reader, the person and the chip is real: the same engine decides, counts tries and locks out,
/// over a state directory in a temporary folder. The chip is simulated in memory, and refuses what a chip refuses.
/// Nothing of the machine that the test runs on is read or changed.
///
/// Many devices may be used at the same time, each in its own ``run(_:)``. Its calls block for some milliseconds and
/// may come from any thread.
public final class TestDevice: Sendable {
    /// The default passcode: `"246810"`.
    public static let usualPasscode = "246810"

    let machine: SimulatedMachine
    let person = Person()
    package let parts: ContextParts

    /// Makes a device.
    ///
    /// - Parameters:
    ///   - fingers: The enrolled fingers.
    ///   - passcode: The passcode; `nil` sets none. It is only for tests, and not a secret.
    ///   - hasReader: Whether the reader is connected.
    ///   - application: The name of the app under test.
    public init(
        fingers: [Finger] = [.rightIndex],
        passcode: String? = TestDevice.usualPasscode,
        hasReader: Bool = true,
        application: String = "app-under-test"
    ) {
        let machine = SimulatedMachine()
        self.machine = machine
        person.reader = machine.reader
        let application = ApplicationID(rawValue: application)
        parts = ContextParts(
            asker: machine.handlers,
            presenter: TestPrompt(person: person),
            application: application,
            keychain: machine.keychain(of: application),
            hasChip: { true },
            changeMark: { await machine.changeMark() },
            readerEvents: { machine.events() }
        )
        setPasscode(passcode)
        for finger in fingers { addFinger(finger) }
        if !hasReader { unplug() }
    }

    // MARK: - Using it

    /// Runs a test's body on this device, which applies to every `LAContext()` and every keychain call in its task and
    /// child tasks.
    ///
    /// It is for Swift Testing, whose tests run concurrently. Work that does not belong to the task, such as a
    /// `Task.detached` or a callback on a queue, uses the machine's own reader; see ``install()``.
    public func run<Value>(
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await ContextParts.$ofTask.withValue(parts, operation: body)
    }

    /// Replaces the machine with this device, for the whole process, until ``uninstall()``.
    ///
    /// It is for XCTest (`setUp` and `tearDown`), whose tests run one after the other, and for apps whose work leaves
    /// the test's task.
    public func install() { ContextParts.ofProcess = parts }

    /// Restores the machine, whichever device is installed.
    public func uninstall() { ContextParts.ofProcess = nil }

    /// The prompts of the app so far, in order: reason, titles, requested methods.
    public var prompts: [TestPromptRecord] { person.prompts }
}

/// Changes to the machine, as in its settings or at its USB port.
///
/// Each call returns when the change is done. A request that is impossible, such as enrolling a finger twice, is a
/// mistake of the test and stops it with the reason.
extension TestDevice {
    /// Enrolls a finger: the domain state changes, and items that are bound to the current set of fingers are lost.
    public func addFinger(_ finger: Finger) {
        waiting { try await $0.add(finger) }
    }

    /// Removes an enrolled finger.
    public func removeFinger(_ finger: Finger) { remove(.finger(finger, on: nil)) }

    /// Removes all enrolled fingers.
    public func removeAllFingers() { remove(.all) }

    private func remove(_ fingers: FingerSelection) {
        waiting { try await $0.remove(fingers) }
    }

    /// The enrolled fingers.
    public var fingers: [Finger] {
        waiting { try await $0.fingers() }
    }

    /// Disconnects the reader; an evaluation that waits for it ends as on a real machine.
    public func unplug() { machine.reader.unplug() }

    /// Connects the reader.
    public func plug() { machine.reader.plug() }

    /// Sets or changes the passcode; `nil` removes it.
    ///
    /// Items that the old passcode opened are lost, and so is every keychain item that exists only while a passcode is
    /// set.
    public func setPasscode(_ passcode: String?) {
        waiting { try await $0.setPasscode(passcode) }
    }

    /// Removes the passcode; see ``setPasscode(_:)``.
    public func removePasscode() { setPasscode(nil) }

    /// Locks fingers, as five touches in a row without a match do.
    ///
    /// A typed passcode lifts the lock (``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`, or
    /// ``unlock()``); if no passcode is set, five minutes do (``pass(_:)``).
    public func lockOut() {
        waiting { try await $0.lockOut() }
    }

    /// Lifts the lock on fingers, and resets the count of wrong passcodes, as the right passcode in the machine's
    /// settings does.
    public func unlock() {
        waiting { try await $0.unlock() }
    }

    /// Disables fingers for the app, as its user can; the app gets `biometryNotAvailable` (-6).
    public func denyFingers() { setDenied(true) }

    /// Enables fingers for the app again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { try await $0.setOptedOut(denied, for: application) }
    }

    /// Advances the time of reuse windows, locks and the waits after wrong passcodes at once.
    ///
    /// Their time stands still otherwise, however long a test takes. Timers of the process are not affected.
    public func pass(_ duration: Duration) { machine.pass(duration) }

    /// Performs asynchronous work, and blocks the caller's thread until it is done.
    private func waiting<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedMachine) async throws -> Value
    ) -> Value {
        let result = WorkerThread.preflights.wait { [machine] () async -> Result<Value, any Error> in
            do { return .success(try await body(machine)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        // The test has requested something impossible, or the temporary folder cannot be used: no test can continue.
        case .failure(let error): preconditionFailure("the test device refused: \(error)")
        }
    }
}

extension TestDevice {
    /// An action of the person at a prompt.
    public enum Action: Sendable, Hashable {
        /// Places an enrolled finger on the reader.
        case match
        /// Places a finger on the reader that is not enrolled.
        case noMatch
        /// Places this finger on the reader, enrolled or not.
        case finger(Finger)
        /// Places a finger on the reader that cannot be read; this does not count as a try.
        case unreadable(ScanRetry)
        /// Types this passcode. Five wrong ones in a row are free; before each further one there is a wait
        /// (``TestDevice/pass(_:)``), and a passcode that is typed during the wait is not compared.
        case passcode(String)
        /// Presses cancel.
        case cancel
        /// Presses the fallback button; under `deviceOwnerAuthentication` this leads to the passcode, and the prompt
        /// continues.
        case fallback
        /// Disconnects the reader.
        case unplug
        /// Does nothing: the prompt stays until the app ends it, or its time runs out.
        case nothing
    }

    /// Adds actions of the person, one for each time that a prompt asks for something.
    ///
    /// They apply across prompts, in order, after the remaining ones. An action that a prompt does not offer, such as a
    /// passcode where only a finger is accepted or a button that is hidden, is skipped. When no actions remain, the
    /// person performs ``otherwise``.
    public func next(_ actions: Action...) { person.append(actions) }

    /// The action of the person when those of ``next(_:)`` have run out: cancel by default, so that a test neither
    /// hangs nor succeeds by chance.
    public var otherwise: Action {
        get { person.otherwise }
        set { person.otherwise = newValue }
    }

    /// The actions that were not performed yet.
    public var remainingActions: [Action] { person.remaining }

    /// Removes the actions that were not performed yet.
    public func dropActions() { person.drop() }
}

/// A record of a prompt.
public struct TestPromptRecord: Sendable, Hashable {
    /// The app's reason.
    public let reason: String
    /// The text of the cancel button.
    public let cancelTitle: String
    /// The text of the fallback button; `nil` if there was none.
    public let fallbackTitle: String?
    /// Whether the prompt asked for a finger.
    public let asksForFinger: Bool
    /// Whether the prompt asked for the passcode.
    public let asksForPasscode: Bool
}
