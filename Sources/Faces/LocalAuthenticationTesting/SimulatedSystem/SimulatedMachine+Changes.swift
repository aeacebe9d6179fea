// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import WhorlEnrollment
package import WhorlFingerprint
internal import Foundation
internal import MockReader
internal import WhorlStateStore
internal import WhorlVault
package import WhorlService

/// Changes that a user can make in a machine's settings. The simulated user owns the machine and consents to them.
extension SimulatedMachine {
    /// Enrolls a finger.
    ///
    /// The domain state changes, and items bound to the current set of fingers are lost.
    package func add(_ finger: Finger) async throws(ServiceError) {
        let store = try await state.createdStore()
        _ = try await store.add(
            template(of: finger),
            as: finger,
            label: nil,
            profile: Self.profile,
            on: reader.info,
            at: Date(),
            consent: try await consent(to: .add(finger), store)
        )
    }

    /// Returns a template that the scripted reader creates.
    ///
    /// Enrolling at the reader would need threads, which the caller may block.
    func template(of finger: Finger) -> Template { Template(bytes: Array("mock:\(finger.rawValue)#1".utf8)) }

    /// Removes fingers.
    package func remove(_ fingers: FingerSelection) async throws(ServiceError) {
        let store = try await state.createdStore()
        let enroller = engine.enroller(store, for: ApplicationID(rawValue: "settings"))
        _ = try await enroller.remove(
            fingers,
            profile: Self.profile,
            readers: [],
            consent: try await consent(to: .remove(fingers), store)
        )
    }

    /// Returns the enrolled fingers.
    package func fingers() async throws(ServiceError) -> [Finger] {
        try await state.createdStore().fingers(of: Self.profile).map(\.finger)
    }

    /// Sets or changes the passcode, or removes it if `passcode` is `nil`.
    ///
    /// Items that exist only while a passcode is set are lost.
    package func setPasscode(_ passcode: String?) async throws(ServiceError) {
        self.passcode.set(passcode)
        let isSet = passcode != nil
        try await state.created().write { db in
            try PasscodeBoundItems.delete(of: Self.profile, db)
            try SimulatedPasscode.set(isSet, of: Self.profile, db)
        }
        announce()
    }

    /// Locks out fingers, as happens after five touches in a row without a match.
    package func lockOut() async throws(ServiceError) {
        let ledger = AttemptLedger(profile: Self.profile, readers: .pretended)
        let now = clock.time.now()
        try await state.created().write { db in
            var record = try ledger.record(in: db)
            // An expired lockout starts again with the next failure.
            while case .open = record.lock(at: now, endsByTime: true) { record.charge(at: now) }
            try ledger.save(record, in: db)
        }
    }

    /// Ends the lockout and resets the count of wrong passcodes.
    package func unlock() async throws(ServiceError) {
        passcode.forgive()
        let ledger = AttemptLedger(profile: Self.profile, readers: .pretended)
        try await state.created().write { db in
            var record = try ledger.record(in: db)
            record.unlock()
            try ledger.save(record, in: db)
        }
    }

    /// Advances the clock that determines reuse windows, lockouts and the delays after wrong passcodes.
    package func pass(_ duration: Duration) { clock.pass(duration) }

    /// Creates the owner's consent without a prompt.
    private func consent(
        to change: OwnerConsent.Change,
        _ store: EnrollmentStore
    ) async throws(ServiceError) -> OwnerConsent {
        OwnerConsent(to: change, in: try await store.status(of: Self.profile), by: .passcode)
    }
}
