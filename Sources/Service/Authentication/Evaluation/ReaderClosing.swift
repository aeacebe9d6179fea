// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Fingerprint
import Foundation
import Logging
import WhorlSupport

/// Closes readers whose evaluation has its answer.
///
/// Closing can take longer than everything since the touch (100 ms on libfprint's virtual reader), and the answer does
/// not depend on it. So it goes on after the answer. Until it has ended, it holds what the evaluation held: the reader's
/// turn, on which the next work in this process waits, and the profile's lock, on which other processes do.
package enum ReaderClosing {
    /// How long the end of the process is held up at most.
    private static let patience = DispatchTimeInterval.seconds(1)
    private static let running = DispatchGroup()
    private static let process = getpid()

    /// Begins to close a reader, and returns when that waits for something.
    ///
    /// The reader has been asked to close by then: whoever asks it to open afterwards comes second. Nobody can cancel it,
    /// since a cancelled evaluation closes its reader too. It runs where its caller does, who may be on a thread of his
    /// own while no other is free.
    ///
    /// - Parameters:
    ///   - reader: An open reader.
    ///   - held: What is let go when it is closed and `besides` has ended.
    ///   - besides: What else can be done after the answer.
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

    /// A program that ends right after its answer lets the reader be closed.
    ///
    /// One that is killed, or takes too long, does not: then the kernel lets the reader and the locks go.
    private static let waitsAtExit: Void = {
        _ = process
        atexit {
            // The child of a fork has the count, and no thread that closes.
            guard getpid() == ReaderClosing.process else { return }
            _ = ReaderClosing.running.wait(timeout: .now() + ReaderClosing.patience)
        }
    }()
}
