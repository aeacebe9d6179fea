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

/// Closes readers after their evaluations have been answered.
///
/// Closing can take longer than everything else since the touch (100 ms on libfprint's virtual reader), and the answer
/// does not depend on it. So the reader is closed after the answer. Until it is closed, everything that the evaluation
/// held stays in place: the reader's turn, for which the next operation in this process waits, and the profile's lock,
/// for which other processes wait.
package enum ReaderClosing {
    /// The maximum time for which closing a reader delays the process's exit.
    private static let patience = DispatchTimeInterval.seconds(1)
    private static let running = DispatchGroup()
    private static let process = getpid()

    /// Starts closing a reader, and returns as soon as the close operation is waiting for the reader.
    ///
    /// At that time, the close operation has been requested, so a later request to open the reader runs after it.
    /// Closing cannot be cancelled, because cancelled evaluations must also close their readers. It runs on the
    /// caller's executor, which may have a free thread when other executors do not.
    ///
    /// - Parameters:
    ///   - reader: An open reader.
    ///   - held: The turn and the locks to release after the reader has been closed and `besides` has ended.
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

    /// The exit handler that prevents the process from exiting before its reader is closed.
    ///
    /// If the program is killed or closing takes too long, the kernel releases the reader and the locks.
    private static let waitsAtExit: Void = {
        _ = process
        atexit {
            // A forked child inherits the group's count, but not the closing threads.
            guard getpid() == ReaderClosing.process else { return }
            _ = ReaderClosing.running.wait(timeout: .now() + ReaderClosing.patience)
        }
    }()
}

/// The part of a match's record that is written after the answer.
///
/// It contains the time of the print's last match, which puts that print first in the next gallery, and the improved
/// template that some readers create. Decisions do not depend on it. The next evaluation of the profile waits until it
/// is written, so that it uses the new order.
final class PendingMatchRecord: Sendable {
    private let match = Mutex<(success: ScanLoop.Success, store: EnrollmentStore)?>(nil)

    /// Stores a match to be written later.
    func take(_ success: ScanLoop.Success, for store: EnrollmentStore) {
        match.withLock { $0 = (success, store) }
    }

    /// Writes the stored match, if there is one.
    func write(at time: MachineTime) async {
        guard let (success, store) = match.withLock({ $0 }) else { return }
        do throws(ServiceError) {
            try await store.recordMatch(success.match.print, updated: success.updated, at: time.now().date)
        } catch {
            log.debug("the last match of a print was not kept (\(error)), ignoring")
        }
    }
}
