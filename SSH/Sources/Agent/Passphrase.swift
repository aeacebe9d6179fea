// SPDX-License-Identifier: Apache-2.0

internal import CAgent

/// The passphrase with which the agent is locked (`ssh-add -x`), in memory that is neither swapped nor dumped.
@safe struct Passphrase {
    private var memory: UnsafeMutableRawBufferPointer?
    private var count = 0
    /// Whether the agent is locked.
    private(set) var isSet = false

    /// Stores a passphrase; `false` if one is stored, or if it is too long.
    mutating func set(_ passphrase: Bytes) -> Bool {
        guard !isSet, passphrase.count <= Int(AGENT_PASSPHRASE) else { return false }
        if unsafe memory == nil, let made = unsafe agent_locked_memory() {
            unsafe memory = UnsafeMutableRawBufferPointer(start: made, count: Int(AGENT_PASSPHRASE))
        }
        guard let memory = unsafe memory else { return false }
        for (place, byte) in passphrase.enumerated() { unsafe memory[place] = byte }
        count = passphrase.count
        isSet = true
        return true
    }

    /// Removes the passphrase if it is this one, in a time that does not depend on its contents.
    mutating func remove(_ passphrase: Bytes) -> Bool {
        guard isSet, let memory = unsafe memory else { return false }
        var difference: UInt8 = passphrase.count == count ? 0 : 1
        for (place, byte) in passphrase.prefix(count).enumerated() {
            unsafe difference |= memory[place] ^ byte
        }
        guard difference == 0 else { return false }
        for place in 0..<count { unsafe memory[place] = 0 }
        count = 0
        isSet = false
        return true
    }
}
