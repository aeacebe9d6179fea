// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import Glibc
import Logging
import WhorlStateStore
import Synchronization
import WhorlEnrollment
package import WhorlFingerprint
import WhorlService
import WhorlSupport

/// Closes readers whose evaluation has its answer.
///
/// Closing can take longer than everything since the touch (100 ms on libfprint's virtual reader), and the answer does
/// not depend on it. So closing goes on after the answer. Until it has ended, it holds what the evaluation held: the
/// reader's turn, for which the next work in this process waits, and the profile's lock, for which other processes
/// wait.
package enum ReaderClosing {
    /// The longest time for which closing delays the end of the process.
    private static let patience = DispatchTimeInterval.seconds(1)
    private static let running = DispatchGroup()
    private static let process = getpid()

    /// Begins to close a reader, and returns as soon as the closing waits.
    ///
    /// The reader has been asked to close by then: a later request to open it comes second. Closing cannot be
    /// cancelled, since a cancelled evaluation closes its reader too. It runs on the caller's executor, which may have
    /// a thread of its own while no other is free.
    ///
    /// - Parameters:
    ///   - reader: An open reader.
    ///   - held: The turn and the locks that are released when the reader is closed and `besides` has ended.
    ///   - besides: Other work that can be done after the answer.
    package static func begin(
        _ reader: any FingerprintReader,
        holding held: [any Sendable],
        besides: @escaping @Sendable () async -> Void = {}
    ) {
        run(holding: held) {
            do throws(ReaderError) {
                try await reader.close()
            } catch {
                log.debug("the reader was closed with an error (\(error)), ignoring")
            }
        }
        run(holding: held, besides)
    }

    private static func run(holding held: [any Sendable], _ body: @escaping @Sendable () async -> Void) {
        _ = waitsAtExit
        running.enter()
        Task.immediate(executorPreference: currentExecutor) {
            await body()
            withExtendedLifetime(held) {}
            running.leave()
        }
    }

    /// The exit handler by which a program that ends right after its answer waits until the reader is closed.
    ///
    /// If the program is killed or closing takes too long, the kernel releases the reader and the locks.
    private static let waitsAtExit: Void = {
        _ = process
        atexit {
            // The child of a fork inherits the group's count, but not the threads that close.
            guard getpid() == ReaderClosing.process else { return }
            _ = ReaderClosing.running.wait(timeout: .now() + ReaderClosing.patience)
        }
    }()
}

/// The part of a match that is written after its answer: the time of the print's last match, which puts it first in the
/// next gallery, and the better template that some readers make.
///
/// No decision depends on it. The next evaluation of the profile waits for it, so that it sees the new order.
final class PendingMatchRecord: Sendable {
    private let match = Mutex<(success: ScanLoop.Success, store: EnrollmentStore)?>(nil)

    /// Keeps a match for later.
    func take(_ success: ScanLoop.Success, for store: EnrollmentStore) {
        match.withLock { $0 = (success, store) }
    }

    /// Writes the match that was kept, if one was.
    func write(at time: MachineTime) async {
        guard let (success, store) = match.withLock({ $0 }) else { return }
        do throws(ServiceError) {
            try await store.recordMatch(success.match.print, updated: success.updated, at: time.now().date)
        } catch {
            log.debug("the last match of a print was not kept (\(error)), ignoring")
        }
    }
}
