// SPDX-License-Identifier: Apache-2.0

/// An executor for tasks on the GLib thread, for work that must continue while all threads of Swift's shared pool are
/// blocked.
///
/// A plain `Task { }` begins on that pool, even in an actor that lives elsewhere (Swift 6.3.1). Tasks on this executor
/// must not block.
package final class GLibTaskExecutor: TaskExecutor {
    /// The executor of this process, which has only one GLib thread.
    package static let shared = GLibTaskExecutor()

    private init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        GLibExecutor.shared.perform { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
