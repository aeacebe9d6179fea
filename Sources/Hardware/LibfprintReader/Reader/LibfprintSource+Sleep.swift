// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime
internal import WhorlFingerprint
internal import WhorlSupport

extension LibfprintSource {
    /// Suspends the readers before the machine's sleep, and returns when all are closed.
    ///
    /// What waits for a finger ends with `suspended`. libfprint follows readers that come and go by itself, also over a
    /// sleep, so that ``readers()`` returns those that are connected afterwards.
    ///
    /// - Parameter patience: The longest wait for operations that end by themselves.
    package func suspendReaders(patience: Duration) async {
        for reader in connected {
            // The reader counts as suspended all the same, and no operation begins.
            try? await reader.suspend()
        }
        let readers = connected
        let closing = Task(executorPreference: GLibTaskExecutor.shared) {
            // Closing keeps a reader's turn until it has ended; an error is that of a reader that took too long.
            for reader in readers { _ = try? await ReaderTurns.take("sleep", on: reader) }
        }
        OffPoolTimer.run(after: patience) { closing.cancel() }
        await closing.value
    }

    /// Resumes the readers after the machine's sleep.
    package func resumeReaders() async {
        for reader in connected {
            // A reader that went away during the sleep is no longer connected.
            try? await reader.resume()
        }
    }

    /// Returns when the thread of the readers has run a job, so that it is not stuck.
    package func answer() {}
}
