// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
public import Fingerprint
internal import Foundation
internal import MockReader
internal import StateStore

/// A machine with a fingerprint reader, a person and a chip, all of them made up, for the tests of an app.
///
///     @Test func `the safe opens for its owner`() async throws {
///         let device = TestDevice()                       // a reader, one enrolled finger, a passcode
///         try await device.run {
///             device.next(.noMatch, .match)               // what the person does at the prompt
///             try await Safe().open()                     // the app's own code, which makes an LAContext
///         }
///     }
///
/// Everything but the reader, the person and the chip is the real thing: the same engine decides, counts tries and locks
/// out, over a state directory in a temporary folder. The chip's part is played in memory, and refuses what a chip
/// refuses. Nothing of the machine that the test runs on is read or changed.
///
/// Many devices may be used at a time, each in its own ``run(_:)``. Its calls block for some milliseconds and may
/// come from any thread.
public final class TestDevice: Sendable {
    /// The passcode of a device that is given none: `"246810"`.
    public static let usualPasscode = "246810"

    let service: TestService
    let person = Person()
    let parts: ContextParts

    /// A device.
    ///
    /// - Parameters:
    ///   - fingers: Those that are enrolled.
    ///   - passcode: The passcode; `nil` sets none. It is a test's, and no secret.
    ///   - hasReader: Whether the reader is plugged in.
    ///   - application: The name that the app under test goes by.
    public init(
        fingers: [Finger] = [.rightIndex],
        passcode: String? = TestDevice.usualPasscode,
        hasReader: Bool = true,
        application: String = "app-under-test"
    ) {
        let service = TestService()
        self.service = service
        person.reader = service.reader
        parts = ContextParts(
            service: service,
            presenter: TestPrompt(person: person),
            application: ApplicationID(rawValue: application),
            state: service.state,
            profile: TestService.profile,
            hasChip: { true },
            readerEvents: { service.events() }
        )
        setPasscode(passcode)
        for finger in fingers { addFinger(finger) }
        if !hasReader { unplug() }
    }

    // MARK: - Using it

    /// Runs a test's body on this device: every `LAContext()`, and every keychain call, in its task and child tasks.
    ///
    /// It is for Swift Testing, whose tests run side by side. Work that does not belong to the task, such as a
    /// `Task.detached` or a callback on a queue, is on the machine's own reader; see ``install()``.
    public func run<Value>(
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await ContextParts.$ofTask.withValue(parts, operation: body)
    }

    /// Puts the device in the place of the machine's, for the whole process, until ``uninstall()``.
    ///
    /// It is for XCTest (`setUp` and `tearDown`), whose tests run one after the other, and for apps whose work leaves the
    /// test's task.
    public func install() { ContextParts.ofProcess = parts }

    /// Gives the place back, whichever device has it.
    public func uninstall() { ContextParts.ofProcess = nil }

    /// The prompts that the app has made so far, in order: reason, titles, what was asked for.
    public var prompts: [TestPromptRecord] { person.prompts }
}
