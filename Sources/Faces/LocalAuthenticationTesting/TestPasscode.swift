// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import SecretMemory
internal import StateStore
internal import Synchronization
internal import Vault

/// The passcode of a test device, compared in memory; wrong ones are counted and cost waits as on a real machine.
final class TestPasscode: PasscodeAuthority {
    private struct State {
        var passcode: SecretBox?
        /// Another number for each passcode that was set, as the chip has another object.
        var serial = 0
        /// They outlive the passcode, so that a new one gives no new tries.
        var tries = PasscodeTries()
    }

    private let state = Mutex(State())
    private let time: MachineTime

    /// - Parameter time: What the waits are measured with.
    init(time: MachineTime) { self.time = time }

    /// Sets a passcode, or none.
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

    /// Which passcode is set; `nil` when none is.
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

    /// Forgets the wrong ones, as the right passcode does.
    func forgive() { state.withLock { $0.tries = PasscodeTries() } }
}
