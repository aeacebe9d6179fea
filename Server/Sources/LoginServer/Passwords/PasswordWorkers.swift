// SPDX-License-Identifier: Apache-2.0

internal import NIOPosix
internal import Synchronization

/// The few threads that passwords are checked on.
///
/// scrypt takes a core and 16 MiB for a while: so many at a time and so many that wait are all that strangers can make
/// the server do. The event loops, and logins without a password, go on meanwhile.
final class PasswordWorkers: Sendable {
    private let threads: NIOThreadPool
    private let places: Int
    private let taken = Mutex(0)

    /// - Parameters:
    ///   - threads: How many passwords are checked at a time.
    ///   - waiting: How many may wait for that.
    init(threads: Int, waiting: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        places = threads + waiting
        self.threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// How many are checked or wait.
    var busy: Int { taken.withLock { $0 } }

    /// Does slow work.
    ///
    /// - Throws: ``Problem`` where too much of it waits already; what the work throws.
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
