// SPDX-License-Identifier: Apache-2.0

import Dispatch
import WhorlGLib
import Synchronization
import Testing
import WhorlSystem

/// The engine's sign of life, for which the watchdog asks.
@Suite(.serialized, .timeLimit(.minutes(2))) struct `The pulse of an engine` {
    @Test func `comes from one that works, and not while the thread of its readers is stuck`() async throws {
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = "/nonexistent/whorl"
        configuration.tpm = "none"
        let root = InProcessRoot(configuration)
        await root.pulse()
        let door = DispatchSemaphore(value: 0)
        GLibExecutor.shared.perform { door.wait() }
        let beats = Mutex(0)
        async let beat: Void = {
            await root.pulse()
            beats.withLock { $0 += 1 }
        }()
        try await Task.sleep(for: .milliseconds(300))
        #expect(beats.withLock(\.self) == 0)
        door.signal()
        await beat
        #expect(beats.withLock(\.self) == 1)
    }
}
