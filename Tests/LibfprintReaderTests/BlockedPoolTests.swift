// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import Dispatch
import WhorlFingerprint
import Foundation
import Testing

@testable import WhorlLibfprint

/// Each test is a process of its own, since the others need the pool.
@Suite struct `With every thread of the shared pool blocked` {
    @Test func `a reader does all its work, suspends, resumes and closes`() async {
        await #expect(processExitsWith: .success) {
            let bench = try VirtualDeviceBench(.storage)
            let finished = BlockedPool.run {
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
            let finished = BlockedPool.run {
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
            let finished = BlockedPool.run {
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
