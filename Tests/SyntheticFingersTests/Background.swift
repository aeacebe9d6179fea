// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Blocking code on a thread of its own, begun at once.
///
/// A task would not do: tests that block may occupy every thread that tasks run on.
final class Background: Sendable {
    private let outcome = Mutex<Result<Void, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    /// Waits for the code to end, and throws what it threw.
    func finish() throws {
        done.wait()
        try outcome.withLock { $0 }?.get()
    }
}
