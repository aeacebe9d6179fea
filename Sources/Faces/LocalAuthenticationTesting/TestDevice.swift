// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
public import WhorlFingerprint
internal import Foundation
internal import MockReader
internal import PretendedSystem
internal import WhorlService

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

    let machine: PretendedMachine
    let person = Person()
    let parts: ContextParts

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
        let machine = PretendedMachine()
        self.machine = machine
        person.reader = machine.reader
        let application = ApplicationID(rawValue: application)
        parts = ContextParts(
            owner: machine,
            items: machine,
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
