// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import WhorlIPC

@Suite struct `Connections that are kept` {
    @Test func `are given out once, the newest first`() throws {
        let kept = IdleConnections()
        let (first, second) = (try UnixSocket.pair(), try UnixSocket.pair())
        kept.keep(first.0)
        kept.keep(second.0)
        #expect(kept.take() === second.0)
        #expect(kept.take() === first.0)
        #expect(kept.take() == nil)
    }

    @Test func `are closed after a while`() async throws {
        let kept = IdleConnections(for: .milliseconds(20)) { .current }
        let other = try { () throws -> Descriptor in
            let (own, other) = try UnixSocket.pair()
            kept.keep(own)
            return other
        }()
        var place = pollfd(fd: other.number, events: 0, revents: 0)
        while poll(&place, 1, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(place.revents & Int16(POLLHUP) != 0)
        #expect(kept.take() == nil)
    }

    @Test func `that the other side has closed are not given out`() throws {
        let kept = IdleConnections()
        kept.keep(try UnixSocket.pair().0)
        #expect(kept.take() == nil)
    }

    @Test func `on which something came in are not given out`() throws {
        let kept = IdleConnections()
        let (own, other) = try UnixSocket.pair()
        kept.keep(own)
        #expect(write(other.number, "x", 1) == 1)
        #expect(kept.take() == nil)
    }

    @Test(arguments: [
        IdleConnections.Owner(process: 2, user: 1, group: 1), .init(process: 1, user: 2, group: 1),
        .init(process: 1, user: 1, group: 2),
    ])
    func `of another process, user or group are not given out`(other: IdleConnections.Owner) throws {
        let box = OwnerBox()
        let kept = IdleConnections(for: .seconds(60)) { box.owner }
        let (own, end) = try UnixSocket.pair()
        kept.keep(own)
        box.owner = other
        #expect(kept.take() == nil)
        box.owner = .init(process: 1, user: 1, group: 1)
        #expect(kept.take() == nil)
        withExtendedLifetime(end) {}
    }

    @Test func `are four at the most`() throws {
        let kept = IdleConnections()
        let pairs = try (0..<6).map { _ in try UnixSocket.pair() }
        for pair in pairs { kept.keep(pair.0) }
        var count = 0
        while kept.take() != nil { count += 1 }
        #expect(count == 4)
    }
}

/// The owner that a test says.
private final class OwnerBox: Sendable {
    private let state = Mutex(IdleConnections.Owner(process: 1, user: 1, group: 1))
    var owner: IdleConnections.Owner {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
