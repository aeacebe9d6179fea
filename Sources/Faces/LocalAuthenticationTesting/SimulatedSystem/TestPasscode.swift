// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import WhorlSecretMemory
internal import WhorlStateStore
internal import Synchronization
internal import WhorlVault
import WhorlService

/// The passcode of a test device, compared in memory.
///
/// As on a real machine, wrong passcodes are counted and cause delays.
final class TestPasscode: PasscodeAuthority {
    private struct State {
        var passcode: SecretBox?
        /// A number that is different for each passcode that is set, because a TPM has a separate object for each
        /// passcode.
        var serial = 0
        /// The counted tries.
        ///
        /// They are not reset when the passcode changes, so that a new passcode does not allow new tries.
        var tries = PasscodeTries()
    }

    private let state = Mutex(State())
    private let time: MachineTime

    /// - Parameter time: The clock that measures the delays.
    init(time: MachineTime) { self.time = time }

    /// Sets the passcode, or removes it if `passcode` is `nil`.
    func set(_ passcode: String?) {
        let box = passcode.map { text in
            let bytes = Array(text.utf8)
            return SecretBox(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
        }
        state.withLock { state in
            state.passcode = box
            state.serial += 1
        }
    }

    /// The number of the current passcode, or `nil` if no passcode is set.
    var serial: Int? { state.withLock { $0.passcode == nil ? nil : $0.serial } }

    var isSet: Bool { serial != nil }

    func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict {
        let now = time.now()
        let box = state.withLock(\.passcode)
        guard let box else { return .notSet }
        if let wait = state.withLock({ $0.tries.reserve(at: now) }) { return .throttled(for: wait) }
        guard SecretBytes.areEqual(box.bytes, passcode) else {
            return .wrong(triesLeft: state.withLock(\.tries.left))
        }
        forgive()
        return .verified
    }

    /// Resets the count of wrong passcodes, as entering the correct passcode does.
    func forgive() { state.withLock { $0.tries = PasscodeTries() } }
}
