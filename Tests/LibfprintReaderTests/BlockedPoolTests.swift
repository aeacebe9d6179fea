// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Fingerprint
import Foundation
import Synchronization
import Testing

@testable import LibfprintReader

/// A program that blocks every thread of Swift's shared pool, as `canEvaluatePolicy` on each of them would.
///
/// Each test is a process of its own, since the others need the pool.
@Suite struct `With every thread of the shared pool blocked` {
    @Test func `a reader does all its work, suspends, resumes and closes`() async {
        await #expect(processExitsWith: .success) {
            let bench = try VirtualDeviceBench(.storage)
            let finished = try Self.withoutThePool {
                let reader = try await bench.libfprintReader()
                try await reader.open()
                let touched = DispatchSemaphore(value: 0)
                let hand = bench.hand
                Thread.detachNewThread {
                    while true {
                        touched.wait()
                        _ = try? hand.exchange("SCAN finger-0")
                    }
                }
                let observer: ScanObserver = { if $0 == .touch { touched.signal() } }
                let template = try await reader.enroll(
                    EnrollmentMetadata(),
                    whenBusy: .wait,
                    observer: observer
                )
                guard
                    try await reader.verify(template, whenBusy: .wait, observer: observer)
                        == .match(updated: nil)
                else { throw ReaderError(.malfunction, operation: "verify") }
                try await reader.suspend()
                try await reader.resume()
                try await reader.close()
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Some drivers say nothing when they wait for a finger; the touch is then announced after a while.
    @Test func `a touch is announced for a driver that says nothing`() async {
        await #expect(processExitsWith: .success) {
            let bench = try VirtualDeviceBench(.storage)
            let finished = try Self.withoutThePool {
                let reader = try await bench.libfprintReader()
                try await reader.open()
                try await reader.waitForTheTouchOfASilentDriver()
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `whoever stops watching is forgotten`() async {
        await #expect(processExitsWith: .success) {
            let bench = try VirtualDeviceBench(.storage)
            let finished = try Self.withoutThePool {
                let source = bench.source
                _ = try await bench.libfprintReader()
                var changes: AsyncStream<ReaderChange>? = await source.changes()
                guard await source.watcherCount == 1 else {
                    throw ReaderError(.malfunction, operation: "watch")
                }
                _ = changes
                changes = nil
                // Nothing tells when; a hang is seen by the deadline.
                while await source.watcherCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Runs `body` on a thread of its own while every thread of the pool waits.
    ///
    /// - Returns: Whether it ended in time.
    private static func withoutThePool(_ body: @escaping @Sendable () async throws -> Void) throws -> Bool {
        let never = DispatchSemaphore(value: 0)
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 4 { Task.detached { never.wait() } }
        let probed = DispatchSemaphore(value: 0)
        // The pool is blocked when a task does not begin any more; this thread is one of the pool too.
        repeat { Task.detached { probed.signal() } } while probed.wait(timeout: .now() + 0.3) == .success
        let done = DispatchSemaphore(value: 0)
        let failed = Mutex(false)
        Task(executorPreference: OneThread.shared) {
            do { try await body() } catch { failed.withLock { $0 = true } }
            done.signal()
        }
        return done.wait(timeout: .now() + 20) == .success && !failed.withLock { $0 }
    }
}

extension LibfprintReader {
    /// An operation whose driver says nothing; it ends when a touch was announced all the same.
    fileprivate func waitForTheTouchOfASilentDriver() async throws {
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let observer: ScanObserver = { if $0 == .touch { touched.yield() } }
        try await observed(by: observer) { () async throws(ReaderError) in
            _ = await touches.first { _ in true }
        }
    }
}

/// A thread that runs the jobs of tasks that prefer it.
private final class OneThread: TaskExecutor {
    static let shared = OneThread()
    private let queue = DispatchQueue(label: "one thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
