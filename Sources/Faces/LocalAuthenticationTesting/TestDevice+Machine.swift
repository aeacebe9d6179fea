// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
import Enrollment
public import Fingerprint
internal import Foundation
internal import MockReader
internal import StateStore
internal import Vault
internal import WhorlService

/// Changes to the machine, as in its settings or at its USB port.
///
/// Each call returns when the change is done. A request that is impossible, such as enrolling a finger twice, is a
/// mistake of the test and stops it with the reason.
extension TestDevice {
    /// Enrolls a finger: the domain state changes, and items that are bound to the current set of fingers are lost.
    public func addFinger(_ finger: Finger) {
        waiting { service throws(EnrollmentError) in
            // The template is the one that the scripted reader makes; an enrollment at the reader would need threads
            // that the caller may block.
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

    /// Disconnects the reader; an evaluation that waits for it ends as on a real machine.
    public func unplug() { service.reader.unplug() }

    /// Connects the reader.
    public func plug() { service.reader.plug() }

    /// Sets or changes the passcode; `nil` removes it.
    ///
    /// Items that the old passcode opened are lost, and so is every keychain item that exists only while a passcode is
    /// set.
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

    /// Locks fingers, as five touches in a row without a match do.
    ///
    /// A typed passcode lifts the lock (``Action/passcode(_:)`` at a prompt for `deviceOwnerAuthentication`, or
    /// ``unlock()``); if no passcode is set, five minutes do (``pass(_:)``).
    public func lockOut() {
        waiting { service throws(StateError) in
            let ledger = AttemptLedger(profile: TestService.profile, readers: .pretended)
            let now = service.clock.time.now()
            try await service.state.created().write { db in
                var record = try ledger.record(in: db)
                // A lock whose time is over starts again with the next failure.
                while case .open = record.lock(at: now, endsByTime: true) { record.charge(at: now) }
                try ledger.save(record, in: db)
            }
        }
    }

    /// Lifts the lock on fingers, and resets the count of wrong passcodes, as the right passcode in the machine's
    /// settings does.
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

    /// Disables fingers for the app, as its user can; the app gets `biometryNotAvailable` (-6).
    public func denyFingers() { setDenied(true) }

    /// Enables fingers for the app again.
    public func allowFingers() { setDenied(false) }

    private func setDenied(_ denied: Bool) {
        let application = parts.application
        waiting { service throws(AuthenticationError) in
            try await service.setOptedOut(denied, for: application)
        }
    }

    /// Advances the time of reuse windows, locks and the waits after wrong passcodes at once; timers of the process are
    /// not affected.
    public func pass(_ duration: Duration) { service.clock.pass(duration) }

    /// Performs asynchronous work, and blocks the caller's thread until it is done.
    private func waiting<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (TestService) async throws(Failure) -> Value
    ) -> Value {
        let result = WorkerThread.preflights.wait { [service] () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await body(service)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        // The test has requested something impossible, or the temporary folder cannot be used: no test can continue.
        case .failure(let error): preconditionFailure("the test device refused: \(error)")
        }
    }
}
