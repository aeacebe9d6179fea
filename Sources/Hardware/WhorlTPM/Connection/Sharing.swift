// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc

/// The rules for sharing a TPM without a resource manager, such as a bare simulator.
///
/// Each program occupies slots while a sequence runs, and keeps two of them afterward for speed. Three rules prevent
/// starvation. A program that needs space waits with only the objects of the current sequence loaded. If that is not
/// enough, it flushes everything and restarts the sequence. A program that works without a pause gives up its slots at
/// the end of its turn. These rules do not apply when a program uses /dev/tpmrm0.
enum Sharing {
    /// The pause between two attempts to get a slot within a sequence, in microseconds.
    ///
    /// Together with the number of attempts, this amounts to 0.2 s in total.
    static let pause: UInt32 = 10_000
    static let tries = 20
    /// The maximum number of attempts for a sequence, which take about 11 s in total.
    static let sequences = 30
    /// The maximum wait before a sequence is restarted, in microseconds.
    static let longestWait = 40 * pause
    /// The pause after a turn, in microseconds.
    ///
    /// It is long enough for a waiting program to wake up and run a whole sequence.
    static let rest = longestWait + 200_000
}

extension Connection {
    /// Runs a sequence of commands of which only the last one changes anything, and restarts the sequence if that can
    /// help.
    ///
    /// Restarting can help if the TPM has forgotten loaded objects, or if other programs occupied the space that the
    /// sequence needs. In both cases the TPM rejects the command before it has any effect.
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
                // The random, growing pause prevents two programs that block each other from colliding again.
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

    /// Leaves the slots to other programs for a moment at the end of this program's turn.
    private func yieldIfDue() {
        guard !address.flushesAtClose else { return }
        let now = ContinuousClock.now
        if cache.isEmpty {
            turnStarted = now
        } else if now - turnStarted > turn {
            cache.flushIdle(on: self)
            // If the pause is shorter than a whole sequence, another program gets only one of the two slots it needs.
            usleep(Sharing.rest)
            turnStarted = .now
        }
    }
}
