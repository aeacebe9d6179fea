// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import Enrollment
public import Fingerprint
internal import Foundation
internal import MockReader
internal import StateStore
internal import Vault

/// What happens to the machine, as it would in its settings or at its USB port.
///
/// Each call returns when it has happened. What a test asks for and cannot be, such as enrolling a finger twice, is a mistake
/// of the test and stops it with the reason.
extension TestDevice {
    /// Enrolls a finger: the domain state changes, and what is bound to the present set of fingers is gone.
    public func addFinger(_ finger: Finger) {
        waiting { service throws(EnrollmentError) in
            // As the scripted reader makes it; an enrollment at the reader would need threads that the caller may block.
            let template = Template(bytes: Array("mock:\(finger.rawValue)#1".utf8))
            let store = try await service.store()
            _ = try await store.add(
                template,
                as: finger,
                label: nil,
                profile: TestService.profile,
                on: service.reader.info,
                at: Date(),
                consent: try await service.consent(to: .add(finger), store)
            )
        }
    }

    /// Removes an enrolled finger.
    public func removeFinger(_ finger: Finger) { remove(.finger(finger, on: nil)) }

    /// Removes all enrolled fingers.
    public func removeAllFingers() { remove(.all) }

    private func remove(_ fingers: FingerSelection) {
        waiting { service throws(EnrollmentError) in
            let store = try await service.store()
            let enroller = service.engine.enroller(store, for: ApplicationID(rawValue: "settings"))
            _ = try await enroller.remove(
                fingers,
                profile: TestService.profile,
                readers: [],
                consent: try await service.consent(to: .remove(fingers), store)
            )
        }
    }

    /// The enrolled fingers.
    public var fingers: [Finger] {
        waiting { service throws(EnrollmentError) in
            try await service.store().fingers(of: TestService.profile).map(\.finger)
        }
    }

    /// Pulls the reader out; an evaluation that waits at it ends as on a real machine.
    public func unplug() { service.reader.unplug() }

    /// Plugs the reader in.
    public func plug() { service.reader.plug() }

    /// Sets the passcode, or another one; `nil` removes it.
    ///
    /// What the old one opened is gone, and with it every keychain item that is there only while a passcode is set.
    public func setPasscode(_ passcode: String?) {
        service.passcode.set(passcode)
        let isSet = passcode != nil
        waiting { service throws(StateError) in
            try await service.state.created().write { db in
                try PasscodeBoundItems.delete(of: TestService.profile, db)
                try PretendedPasscode.set(isSet, of: TestService.profile, db)
            }
        }
        service.announce()
    }

    /// Removes the passcode; see ``setPasscode(_:)``.
    public func removePasscode() { setPasscode(nil) }

    /// Locks fingers, as five touches in a row that did not match do.
    ///
    /// A typed passcode lifts it (``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`, or ``unlock()``); where none
    /// is set, five minutes do (``pass(_:)``).
    public func lockOut() {
        waiting { service throws(StateError) in
            let ledger = AttemptLedger(profile: TestService.profile, readers: .pretended)
            let now = service.clock.time.now()
            try await service.state.created().write { db in
                var record = try ledger.record(in: db)
                // A lock whose time is over begins anew with the next failure.
                while case .open = record.lock(at: now, endsByTime: true) { record.charge(at: now) }
                try ledger.save(record, in: db)
            }
        }
    }

    /// Lifts the lock on fingers, and forgets wrong passcodes, as the right passcode in the machine's settings does.
    public func unlock() {
        service.passcode.forgive()
        waiting { service throws(StateError) in
            let ledger = AttemptLedger(profile: TestService.profile, readers: .pretended)
            try await service.state.created().write { db in
                var record = try ledger.record(in: db)
                record.unlock()
                try ledger.save(record, in: db)
            }
        }
    }

    /// Turns fingers off for the app, as its user may; to it they are not available (-6).
    public func denyFingers() { setDenied(true) }

    /// Turns fingers on again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { service throws(AuthenticationError) in
            try await service.setOptedOut(denied, for: application)
        }
    }

    /// Lets time pass for reuse windows, locks and the waits after wrong passcodes, at once; timers of the process do not run faster.
    public func pass(_ duration: Duration) { service.clock.pass(duration) }

    /// Waits on the caller's thread.
    private func waiting<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (TestService) async throws(Failure) -> Value
    ) -> Value {
        let result = WorkerThread.preflights.wait { [service] () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await body(service)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        // The test has asked for something that cannot be, or the temporary folder cannot be used: no test can go on.
        case .failure(let error): preconditionFailure("the test device refused: \(error)")
        }
    }
}
