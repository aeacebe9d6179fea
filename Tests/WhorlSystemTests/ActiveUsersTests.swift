// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WhorlSystem

@Suite struct `What a service holds for its users` {
    private final class Engine: Sendable {}

    private let begin = ContinuousClock.now
    private func later(_ seconds: Int) -> ContinuousClock.Instant { begin + .seconds(seconds) }

    @Test func `is let go once a user has called nothing for long and has no connection`() {
        var users = ActiveUsers<Engine>()
        weak let idle: Engine?
        do {
            let engine = Engine()
            users.hold(engine, for: 1001, at: begin)
            idle = engine
        }
        users.hold(Engine(), for: 1002, at: begin)
        users.hold(Engine(), for: 1003, at: begin)
        // One is connected, and one has called in between.
        let called = users.use(of: 1003, at: later(50))
        #expect(users.removeIdle(for: .seconds(60), at: later(60)) { $0 == 1002 }.isEmpty)
        #expect(users.removeIdle(for: .seconds(60), at: later(61)) { $0 == 1002 }.count == 1)
        #expect(idle == nil)
        #expect(users.use(of: 1001, at: later(61)) == nil)
        #expect(users.use(of: 1002, at: later(61)) != nil)
        #expect(users.use(of: 1003, at: later(61)) === called)
        #expect(users.all.count == 2)
        // Without its connection, the other is let go too.
        #expect(users.removeIdle(for: .seconds(60), at: later(200)) { _ in false }.count == 2)
        #expect(users.all.isEmpty)
    }

    @Test func `is bounded however many users call once each`() {
        var users = ActiveUsers<Engine>()
        var most = 0
        for number in 0..<10_000 {
            users.hold(Engine(), for: UInt32(100_000 + number), at: later(number))
            _ = users.removeIdle(for: .seconds(120), at: later(number)) { _ in false }
            most = max(most, users.all.count)
        }
        #expect(most == 121)
    }
}
