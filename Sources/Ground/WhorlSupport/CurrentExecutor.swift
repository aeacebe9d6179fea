// SPDX-License-Identifier: Apache-2.0

/// The executor that the present task prefers; `nil` means the shared pool.
///
/// It is for a task that has to run where this one does: its caller may be on a thread of its own while no thread of
/// the pool is free.
package var currentExecutor: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
