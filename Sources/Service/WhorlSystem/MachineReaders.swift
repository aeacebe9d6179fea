// SPDX-License-Identifier: Apache-2.0

internal import LibfprintReader
package import WhorlService
internal import WhorlSupport

/// The readers of this process, as the whole machine's sleep concerns them.
package enum MachineReaders {
    /// Ends the evaluations of all users, and closes the readers.
    ///
    /// It returns within 4 seconds, for which the login manager waits.
    package static func letGo(_ interruptions: Interruptions) async {
        await interruptions.begin(.sleep, patience: .seconds(2))
        await LibfprintSource.shared.suspendReaders(patience: .seconds(1))
    }

    /// Takes the readers back that are connected after the sleep, and lets evaluations begin again.
    package static func takeBack(_ interruptions: Interruptions) async {
        // A driver that hangs keeps its own reader away, and not the passcode and the other readers.
        await OffPoolTimer.wait(atMost: .seconds(5)) { end in
            Task {
                await LibfprintSource.shared.resumeReaders()
                end()
            }
        }
        interruptions.end(.sleep)
    }
}

extension InProcessRoot {
    /// Returns when the parts without which no call is answered have done a piece of work: the thread of the readers,
    /// the queue of the state, and Swift's shared pool.
    ///
    /// Where one of them is stuck, it does not return.
    package func pulse() async {
        await LibfprintSource.shared.answer()
        await state.answer()
        await Task.detached {}.value
    }
}
