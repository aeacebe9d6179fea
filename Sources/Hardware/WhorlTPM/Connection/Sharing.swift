// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc

/// The limits by which programs share a TPM without a resource manager, such as a bare simulator.
///
/// Each program holds slots while a sequence runs, and keeps two for speed. So that no program starves: a program that
/// needs room waits for it with only the running sequence loaded; if that is not enough, it flushes everything and
/// starts the sequence again; and a program that works without a pause gives up its slots when its turn is over. None
/// of this happens behind /dev/tpmrm0.
enum Sharing {
    /// The pause between two tries for room inside a sequence, in microseconds, and the number of tries: 0.2 s in all.
    static let pause: UInt32 = 10_000
    static let tries = 20
    /// The number of times that a sequence is tried: about 11 s in all.
    static let sequences = 30
    /// The longest wait before a sequence is started again, in microseconds.
    static let longestWait = 40 * pause
    /// The pause after a turn, in microseconds: a waiting program wakes up in it and has time for a whole sequence.
    static let rest = longestWait + 200_000
}

extension Connection {
    /// Runs a sequence of commands that changes nothing before its last one, and starts it again where that helps.
    ///
    /// It helps when the TPM has forgotten loaded objects, and when other programs held the room that the sequence
    /// needs. In both cases the TPM refuses the command before it does anything.
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
                // The pause is random and grows each time, so that two programs that block each other do not collide
                // again.
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

    /// Gives the slots to other programs for a moment when this program's turn is over.
    private func yieldIfDue() {
        guard !address.flushesAtClose else { return }
        let now = ContinuousClock.now
        if cache.isEmpty {
            turnStarted = now
        } else if now - turnStarted > turn {
            cache.flushIdle(on: self)
            // With a shorter pause than a whole sequence takes, another program gets only one of the two slots that it
            // needs.
            usleep(Sharing.rest)
            turnStarted = .now
        }
    }
}
