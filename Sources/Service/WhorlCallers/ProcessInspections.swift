// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Examines processes on threads outside Swift's shared pool, one at a time for each user.
///
/// Examining a specially crafted process may take a long time. Only callers of the same user then have to wait.
final class ProcessInspections: Sendable {
    private struct Line {
        let queue = DispatchQueue(label: "whorl.process-looks")
        /// The number of examinations that are running or waiting.
        var count = 0
    }

    private let lines = Mutex<[UInt32: Line]>([:])

    /// The number of users for whom an examination is running or waiting.
    var users: Int { lines.withLock(\.count) }

    /// Runs an examination when it is the user's turn.
    ///
    /// - Parameters:
    ///   - uid: The user whose process is examined.
    ///   - work: The examination, which may block its thread.
    /// - Returns: The result of `work`.
    func look<Value: Sendable>(for uid: UInt32, _ work: @escaping @Sendable () -> Value) async -> Value {
        let queue = lines.withLock { lines in
            var line = lines[uid] ?? Line()
            line.count += 1
            lines[uid] = line
            return line.queue
        }
        defer {
            lines.withLock { lines in
                lines[uid]?.count -= 1
                if lines[uid]?.count == 0 { lines[uid] = nil }
            }
        }
        return await withCheckedContinuation { done in queue.async { done.resume(returning: work()) } }
    }
}
