// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import whorld

@Suite("A service that is told to end")
struct EndSignalTests {
    // Once in a process, as in the service: the second signal ends the process.
    @Test func `hears of it from the moment on in which it says that it listens`() async {
        let (words, sink) = AsyncStream.makeStream(of: Void.self)
        await EndSignals.onFirst { sink.yield() }
        kill(getpid(), SIGTERM)
        let limit = Task {
            try? await Task.sleep(for: .seconds(60))  // cancelled where it is heard
            sink.finish()
        }
        defer { limit.cancel() }
        for await _ in words { return }
        Issue.record("the signal was lost")
    }
}
