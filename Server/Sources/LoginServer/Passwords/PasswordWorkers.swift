// SPDX-License-Identifier: Apache-2.0

internal import NIOPosix
internal import Synchronization

/// A small pool of threads that check passwords.
///
/// scrypt uses a core and 16 MiB for a while. Limiting the number of running and waiting checks limits the load that
/// attackers can cause. The event loops, and logins without a password, are not delayed.
final class PasswordWorkers: Sendable {
    private let threads: NIOThreadPool
    private let places: Int
    private let taken = Mutex(0)

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - threads: The number of passwords checked at a time.
    ///   - waiting: The maximum number of waiting checks.
    init(threads: Int, waiting: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        places = threads + waiting
        self.threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// The number of running and waiting checks.
    var busy: Int { taken.withLock { $0 } }

    /// Runs slow work on a thread of the pool.
    ///
    /// - Throws: ``Problem`` if too much work is waiting; the error of the work.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let isFree = taken.withLock { taken in
            guard taken < places else { return false }
            taken += 1
            return true
        }
        guard isFree else { throw Problem.tooManyRequests(retryAfter: 1) }
        defer { taken.withLock { $0 -= 1 } }
        return try await threads.runIfActive(work)
    }
}
