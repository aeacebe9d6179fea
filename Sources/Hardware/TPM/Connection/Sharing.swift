// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import Glibc

/// How programs share a TPM that has no resource manager between it and them, as a bare simulator.
///
/// Each holds slots while a sequence runs, and keeps two for speed. So that nobody starves: who needs room waits for it
/// with nothing but the running sequence loaded; when that is not enough, lets go of everything and begins the sequence
/// anew; and who works without a pause lets go when its turn is over. Behind /dev/tpmrm0 none of this happens.
enum Sharing {
    /// Between two tries for room inside of a sequence, in microseconds, and how many there are: 0.2 s.
    static let pause: UInt32 = 10_000
    static let tries = 20
    /// How often a sequence is begun anew: about 11 s in all.
    static let sequences = 30
    /// The longest that a program waits before it begins a sequence anew, in microseconds.
    static let longestWait = 40 * pause
    /// What others get after a turn, in microseconds: whoever waits wakes up in it, and has time for a whole sequence.
    static let rest = longestWait + 200_000
}

extension Connection {
    /// Runs a sequence of commands that changes nothing before its last one, and begins it anew where that helps.
    ///
    /// It helps when the TPM has forgotten what was loaded, and when other programs held the room it needs. The TPM refuses
    /// a command in both cases before it does anything.
    func sequence<Value: ~Copyable>(_ body: () throws(TPMError) -> Value) throws(TPMError) -> Value {
        yieldIfDue()
        var resets = 0
        var attempts: UInt32 = 0
        for _ in 1..<Sharing.sequences {
            do throws(TPMError) {
                return try body()
            } catch  where error.code == .reset && resets == 0 {
                resets += 1
            } catch  where error.code == .outOfSlots {
                cache.flushIdle(on: self)
                // Of random length, and longer each time, so that two that block each other do not meet again.
                attempts += 1
                let longest = min(5 * attempts * Sharing.pause, Sharing.longestWait)
                usleep(UInt32.random(in: Sharing.pause...longest))
            }
        }
        return try body()
    }

    /// Runs a sequence of commands with the storage root.
    func withSequence<Value: ~Copyable>(
        _ root: StorageRoot,
        _ body: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try withRoot(root) { (root) throws(TPMError) in
            try sequence { () throws(TPMError) in try body(root) }
        }
    }

    /// Lets others have the slots for a moment when this program has kept them for its turn.
    private func yieldIfDue() {
        guard !address.flushesAtClose else { return }
        let now = ContinuousClock.now
        if cache.isEmpty {
            turnStarted = now
        } else if now - turnStarted > turn {
            cache.flushIdle(on: self)
            // With less than a whole sequence takes, another one gets one slot of the two that it needs.
            usleep(Sharing.rest)
            turnStarted = .now
        }
    }
}
