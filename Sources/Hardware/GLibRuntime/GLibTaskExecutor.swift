// SPDX-License-Identifier: Apache-2.0

/// Runs tasks on the GLib thread, for work that must get on while every thread of Swift's shared pool is blocked.
///
/// A plain `Task { }` begins on that pool, even in an actor that lives elsewhere (Swift 6.3.1). What runs here must not block.
package final class GLibTaskExecutor: TaskExecutor {
    /// The only one, as there is only one GLib thread.
    package static let shared = GLibTaskExecutor()

    private init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        GLibExecutor.shared.perform { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
