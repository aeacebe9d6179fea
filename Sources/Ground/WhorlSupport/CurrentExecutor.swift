// SPDX-License-Identifier: Apache-2.0

/// The executor that the current task prefers; `nil` means the shared pool.
///
/// It is for a task that must run where the current one does: the caller may be on its own thread while no thread of
/// the pool is free.
package var currentExecutor: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
