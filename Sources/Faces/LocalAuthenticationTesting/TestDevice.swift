// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Foundation
internal import WhorlSupport
internal import MockReader
public import WhorlFingerprint
package import WhorlService

/// A simulated machine with a fingerprint reader, a user and a TPM, for testing an app.
///
///     @Test func `the safe opens for its owner`() async throws {
///         let device = TestDevice()                       // a reader, one enrolled finger, a passcode
///         try await device.run {
///             device.next(.noMatch, .match)               // the actions of the user at the prompt
///             try await Safe().open()                     // the app's own code, which makes an LAContext
///         }
///     }
///
/// Only the reader, the user and the TPM are simulated. The engine is real: it makes decisions, counts tries and
/// enforces lockouts, using a state directory in a temporary folder. The simulated TPM exists only in memory, and fails
/// whenever a real TPM would. Tests neither read nor change the state of the machine that runs them.
///
/// You can use several devices at the same time, each in a separate ``run(_:)``. Calls block for a few milliseconds,
/// and you can make them from any thread.
public final class TestDevice: Sendable {
    /// The default passcode: `"246810"`.
    public static let usualPasscode = "246810"

    let machine: SimulatedMachine
    let person = Person()
    package let parts: ContextParts

    /// Creates a device.
    ///
    /// - Parameters:
    ///   - fingers: The enrolled fingers.
    ///   - passcode: The passcode, or `nil` for none. It is used only for tests, and is not a secret.
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
            asker: machine.allHandlers,
            presenter: TestPrompt(person: person),
            application: application,
            profile: SimulatedMachine.profile,
            keychain: machine.keychain(of: application),
            hasChip: { true },
            changeMark: { await machine.changeMark() },
            readerEvents: { machine.events() }
        )
        setPasscode(passcode)
        for finger in fingers { addFinger(finger) }
        if !hasReader { unplug() }
    }

    // MARK: - Installation

    /// Runs the body of a test on this device.
    ///
    /// Every `LAContext()` and every keychain call in the body's task and its child tasks uses the device.
    ///
    /// Use it with Swift Testing, whose tests run concurrently. Work outside of the task, such as a `Task.detached` or
    /// a callback on a queue, uses the real machine instead. For such work, see ``install()``.
    public func run<Value>(
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await ContextParts.$ofTask.withValue(parts, operation: body)
    }

    /// Replaces the real machine with this device for the whole process, until ``uninstall()`` is called.
    ///
    /// Use it with XCTest (`setUp` and `tearDown`), whose tests run one after the other, and for apps that perform work
    /// outside of the test's task.
    public func install() { ContextParts.ofProcess = parts }

    /// Uninstalls the device, regardless of which one is installed, so that the process uses the real machine again.
    public func uninstall() { ContextParts.ofProcess = nil }

    /// The prompts that the app has shown so far, in order, with their reasons, titles and requested methods.
    public var prompts: [TestPromptRecord] { person.prompts }
}

/// Changes that a user can make in a machine's settings or at its USB port.
///
/// Each call returns when the change has been made. An impossible request, such as enrolling a finger twice, is a
/// programming error in the test, and stops the test with a message that states the reason.
extension TestDevice {
    /// Enrolls a finger.
    ///
    /// The domain state changes, and items bound to the current set of fingers are lost.
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

    /// Disconnects the reader.
    ///
    /// An evaluation that is waiting for the reader ends as it would on a real machine.
    public func unplug() { machine.reader.unplug() }

    /// Connects the reader.
    public func plug() { machine.reader.plug() }

    /// Sets or changes the passcode, or removes it if `passcode` is `nil`.
    ///
    /// Items that the old passcode could open are lost. Keychain items that exist only while a passcode is set are lost
    /// as well.
    public func setPasscode(_ passcode: String?) {
        waiting { try await $0.setPasscode(passcode) }
    }

    /// Removes the passcode; see ``setPasscode(_:)``.
    public func removePasscode() { setPasscode(nil) }

    /// Locks out fingers, as happens after five touches in a row without a match.
    ///
    /// Entering the passcode ends the lockout: use ``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`,
    /// or ``unlock()``. If no passcode is set, the lockout ends after five minutes, which you can simulate with
    /// ``pass(_:)``.
    public func lockOut() {
        waiting { try await $0.lockOut() }
    }

    /// Ends the lockout and resets the count of wrong passcodes, as entering the correct passcode in the machine's
    /// settings does.
    public func unlock() {
        waiting { try await $0.unlock() }
    }

    /// Disables fingers for the app, as its user can do.
    ///
    /// The app's evaluations fail with `biometryNotAvailable` (-6).
    public func denyFingers() { setDenied(true) }

    /// Enables fingers for the app again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { try await $0.setOptedOut(denied, for: application) }
    }

    /// Advances the clock that determines reuse windows, lockouts and the delays after wrong passcodes.
    ///
    /// The clock advances only when you call this method, no matter how long a test takes. Timers in the process are
    /// not affected.
    public func pass(_ duration: Duration) { machine.pass(duration) }

    /// Performs asynchronous work and blocks the caller's thread until it is done.
    private func waiting<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedMachine) async throws -> Value
    ) -> Value {
        let result = WorkerThread.preflights.wait { [machine] () async -> Result<Value, any Error> in
            do { return .success(try await body(machine)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        // The test requested something impossible, or the temporary folder cannot be used. The test cannot continue.
        case .failure(let error): preconditionFailure("the test device refused: \(error)")
        }
    }
}

extension TestDevice {
    /// An action of the user at a prompt.
    public enum Action: Sendable, Hashable {
        /// Places an enrolled finger on the reader.
        case match
        /// Places a finger that is not enrolled on the reader.
        case noMatch
        /// Places this finger on the reader, whether or not it is enrolled.
        case finger(Finger)
        /// Places a finger on the reader in such a way that it cannot be read. This does not count as a try.
        case unreadable(ScanRetry)
        /// Types this passcode.
        ///
        /// The first five wrong passcodes in a row do not cause a delay, but every further try does. A passcode that is
        /// typed during the delay is not checked. Use ``TestDevice/pass(_:)`` to end the delay.
        case passcode(String)
        /// Presses the cancel button.
        case cancel
        /// Presses the fallback button.
        ///
        /// For `deviceOwnerAuthentication`, this shows the passcode field, and the prompt continues.
        case fallback
        /// Disconnects the reader.
        case unplug
        /// Does nothing. The prompt remains visible until the app ends it or it times out.
        case nothing
    }

    /// Adds actions for the user to perform at prompts.
    ///
    /// Each time a prompt waits for input, the user performs the next action.
    ///
    /// The user performs the actions in order, across prompts, after any actions that remain from earlier calls. An
    /// action that a prompt does not offer is skipped, such as a passcode where only a finger is accepted, or a hidden
    /// button. When no actions remain, the user performs ``otherwise``.
    public func next(_ actions: Action...) { person.append(actions) }

    /// The action that the user performs when no actions from ``next(_:)`` remain.
    ///
    /// The default is to cancel the prompt, so that a test neither hangs nor succeeds by chance.
    public var otherwise: Action {
        get { person.otherwise }
        set { person.otherwise = newValue }
    }

    /// The actions that have not been performed yet.
    public var remainingActions: [Action] { person.remaining }

    /// Removes the actions that have not been performed yet.
    public func dropActions() { person.drop() }
}

/// A record of a prompt that the app has shown.
public struct TestPromptRecord: Sendable, Hashable {
    /// The reason that the app gave.
    public let reason: String
    /// The title of the cancel button.
    public let cancelTitle: String
    /// The title of the fallback button, or `nil` if the prompt did not have one.
    public let fallbackTitle: String?
    /// Whether the prompt accepted a finger.
    public let asksForFinger: Bool
    /// Whether the prompt accepted the passcode.
    public let asksForPasscode: Bool
}
