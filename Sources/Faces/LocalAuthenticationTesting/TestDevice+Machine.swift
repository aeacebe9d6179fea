// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
public import WhorlFingerprint
internal import GLibRuntime
internal import MockReader
internal import PretendedSystem
internal import WhorlService

/// Changes to the machine, as in its settings or at its USB port.
///
/// Each call returns when the change is done. A request that is impossible, such as enrolling a finger twice, is a
/// mistake of the test and stops it with the reason.
extension TestDevice {
    /// Enrolls a finger: the domain state changes, and items that are bound to the current set of fingers are lost.
    public func addFinger(_ finger: Finger) {
        waiting { machine throws(EnrollmentError) in try await machine.add(finger) }
    }

    /// Removes an enrolled finger.
    public func removeFinger(_ finger: Finger) { remove(.finger(finger, on: nil)) }

    /// Removes all enrolled fingers.
    public func removeAllFingers() { remove(.all) }

    private func remove(_ fingers: FingerSelection) {
        waiting { machine throws(EnrollmentError) in try await machine.remove(fingers) }
    }

    /// The enrolled fingers.
    public var fingers: [Finger] {
        waiting { machine throws(EnrollmentError) in try await machine.fingers() }
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
        waiting { machine throws(StateError) in try await machine.setPasscode(passcode) }
    }

    /// Removes the passcode; see ``setPasscode(_:)``.
    public func removePasscode() { setPasscode(nil) }

    /// Locks fingers, as five touches in a row without a match do.
    ///
    /// A typed passcode lifts the lock (``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`, or
    /// ``unlock()``); if no passcode is set, five minutes do (``pass(_:)``).
    public func lockOut() {
        waiting { machine throws(StateError) in try await machine.lockOut() }
    }

    /// Lifts the lock on fingers, and resets the count of wrong passcodes, as the right passcode in the machine's
    /// settings does.
    public func unlock() {
        waiting { machine throws(StateError) in try await machine.unlock() }
    }

    /// Disables fingers for the app, as its user can; the app gets `biometryNotAvailable` (-6).
    public func denyFingers() { setDenied(true) }

    /// Enables fingers for the app again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { machine throws(AuthenticationError) in
            try await machine.setOptedOut(denied, for: application)
        }
    }

    /// Advances the time of reuse windows, locks and the waits after wrong passcodes at once; timers of the process are
    /// not affected.
    public func pass(_ duration: Duration) { machine.pass(duration) }

    /// Performs asynchronous work, and blocks the caller's thread until it is done.
    private func waiting<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (PretendedMachine) async throws(Failure) -> Value
    ) -> Value {
        let result = WorkerThread.preflights.wait { [machine] () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await body(machine)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        // The test has requested something impossible, or the temporary folder cannot be used: no test can continue.
        case .failure(let error): preconditionFailure("the test device refused: \(error)")
        }
    }
}
