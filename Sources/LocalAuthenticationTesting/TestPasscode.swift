// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import SecretMemory
internal import Synchronization

/// The passcode of a test device, compared in memory; there is no limit on tries.
final class TestPasscode: PasscodeAuthority {
    private struct State {
        var passcode: SecretBox?
        /// Another number for each passcode that was set, as the chip has another object.
        var serial = 0
    }

    private let state = Mutex(State())

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
        guard let box = state.withLock(\.passcode) else { return .notSet }
        return SecretBytes.areEqual(box.bytes, passcode) ? .verified : .wrong(triesLeft: nil)
    }
}
