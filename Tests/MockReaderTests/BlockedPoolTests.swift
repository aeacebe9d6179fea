// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import WhorlFingerprint
import Foundation
import MockReader
import Testing

@Suite struct `With every thread of the shared pool blocked, a mock` {
    @Test func `opens, matches and closes`() async {
        await #expect(processExitsWith: .success) {
            let finished = BlockedPool.run {
                let reader = try MockReader(script: "stages=1, touch right-index-finger*2")
                try await reader.open()
                let template = try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { _ in }
                guard
                    try await reader.verify(template, whenBusy: .fail, observer: { _ in })
                        == .match(updated: nil)
                else { throw ReaderError(.malfunction, operation: "verify") }
                try await reader.close()
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}

@Suite struct `Closing a mock` {
    @Test func `waits for the operation that runs, also when its task is cancelled`() async throws {
        let reader = try MockReader(script: "hang")
        try await reader.open()
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await reader.identify(among: [], whenBusy: .fail) { if $0 == .touch { touched.yield() } }
        }
        _ = await touches.first { _ in true }
        let closing = Task { try await reader.close() }
        closing.cancel()
        // The operation goes on: it does not end of itself.
        await Task.yield()
        #expect(reader.fingerStatus.needed)
        running.cancel()
        await #expect(throws: ReaderError(.cancelled, operation: "identify")) { try await running.value }
        try await closing.value
        await #expect(throws: ReaderError(.notOpen, operation: "identify")) {
            try await reader.identify(among: [], whenBusy: .fail) { _ in }
        }
    }
}
