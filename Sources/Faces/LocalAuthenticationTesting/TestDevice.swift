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
/// Only the reader, the user and the TPM are simulated. The engine is the real one: it decides, counts tries and locks
/// out, with a state directory in a temporary folder. The simulated TPM is in memory and fails whenever a real TPM
/// would. The machine that runs the test is neither read nor changed.
///
/// Several devices can be used at the same time, each in its own ``run(_:)``. Calls block for some milliseconds and can
/// come from any thread.
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
    ///   - passcode: The passcode, or `nil` for none. It is only for tests, and not a secret.
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

    // MARK: - Installation

    /// Runs a test's body on this device.
    ///
    /// Every `LAContext()` and every keychain call in its task and child tasks uses the device.
    ///
    /// Use it with Swift Testing, whose tests run concurrently. Work outside of the task, such as a `Task.detached` or
    /// a callback on a queue, uses the machine's own reader; see ``install()``.
    public func run<Value>(
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await ContextParts.$ofTask.withValue(parts, operation: body)
    }

    /// Replaces the machine with this device for the whole process, until ``uninstall()``.
    ///
    /// Use it with XCTest (`setUp` and `tearDown`), whose tests run one after the other, and for apps whose work leaves
    /// the test's task.
    public func install() { ContextParts.ofProcess = parts }

    /// Restores the machine, regardless of which device is installed.
    public func uninstall() { ContextParts.ofProcess = nil }

    /// The app's prompts so far, in order, with reason, titles and requested methods.
    public var prompts: [TestPromptRecord] { person.prompts }
}

/// Changes to the machine, as in its settings or at its USB port.
///
/// Each call returns when the change is done. An impossible request, such as enrolling a finger twice, is a programming
/// error in the test and stops it with the reason.
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
    /// An evaluation that waits for it ends as on a real machine.
    public func unplug() { machine.reader.unplug() }

    /// Connects the reader.
    public func plug() { machine.reader.plug() }

    /// Sets or changes the passcode; `nil` removes it.
    ///
    /// Items that the old passcode could open are lost, and so are all keychain items that exist only while a passcode
    /// is set.
    public func setPasscode(_ passcode: String?) {
        waiting { try await $0.setPasscode(passcode) }
    }

    /// Removes the passcode; see ``setPasscode(_:)``.
    public func removePasscode() { setPasscode(nil) }

    /// Locks fingers out, as after five touches in a row without a match.
    ///
    /// A typed passcode ends the lockout (``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`, or
    /// ``unlock()``). If no passcode is set, the lockout ends after five minutes (``pass(_:)``).
    public func lockOut() {
        waiting { try await $0.lockOut() }
    }

    /// Ends the lockout and resets the count of wrong passcodes, like typing the right passcode in the machine's
    /// settings.
    public func unlock() {
        waiting { try await $0.unlock() }
    }

    /// Disables fingers for the app, as its user can.
    ///
    /// The app's evaluations fail with `biometryNotAvailable` (-6).
    public func denyFingers() { setDenied(true) }

    /// Enables fingers for the app again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { try await $0.setOptedOut(denied, for: application) }
    }

    /// Advances the time of reuse windows, lockouts and the delays after wrong passcodes.
    ///
    /// This time advances only through this call, however long a test takes. Timers of the process are not affected.
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
        /// Places a finger on the reader that is not enrolled.
        case noMatch
        /// Places this finger on the reader, enrolled or not.
        case finger(Finger)
        /// Places a finger on the reader that cannot be read, which does not count as a try.
        case unreadable(ScanRetry)
        /// Types this passcode.
        ///
        /// The first five wrong ones in a row cause no delay; each further try does. A passcode typed during the delay
        /// is not compared. Use ``TestDevice/pass(_:)`` to end the delay.
        case passcode(String)
        /// Presses cancel.
        case cancel
        /// Presses the fallback button.
        ///
        /// For `deviceOwnerAuthentication`, this shows the passcode field, and the prompt continues.
        case fallback
        /// Disconnects the reader.
        case unplug
        /// Does nothing. The prompt stays until the app ends it or it times out.
        case nothing
    }

    /// Adds actions of the user.
    ///
    /// Each time that a prompt waits for input, the next one is performed.
    ///
    /// Actions are performed in order, across prompts, after the remaining ones. An action that a prompt does not offer
    /// is skipped, such as a passcode where only a finger is accepted, or a hidden button. When no actions remain, the
    /// user performs ``otherwise``.
    public func next(_ actions: Action...) { person.append(actions) }

    /// The action of the user when no actions of ``next(_:)`` remain.
    ///
    /// The default is to cancel, so that a test neither hangs nor succeeds by chance.
    public var otherwise: Action {
        get { person.otherwise }
        set { person.otherwise = newValue }
    }

    /// The actions that have not been performed yet.
    public var remainingActions: [Action] { person.remaining }

    /// Removes the actions that have not been performed yet.
    public func dropActions() { person.drop() }
}

/// A record of a prompt.
public struct TestPromptRecord: Sendable, Hashable {
    /// The app's reason.
    public let reason: String
    /// The title of the cancel button.
    public let cancelTitle: String
    /// The title of the fallback button; `nil` if there was none.
    public let fallbackTitle: String?
    /// Whether the prompt accepted a finger.
    public let asksForFinger: Bool
    /// Whether the prompt accepted the passcode.
    public let asksForPasscode: Bool
}
