// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import WhorlService
import WhorlSupport

@testable import WhorlIPC
@testable import WhorlRemote

/// A service that cannot start: the service manager listens for it, and nobody takes a connection.
@Suite("A service that does not answer", .timeLimit(.minutes(2)))
struct SilentServiceTests {
    @Test(arguments: [SilentPlace.Listener.none, .mute])
    fileprivate func `ends a call with the error of an unavailable service, and says where to look`(
        listener: SilentPlace.Listener
    ) async throws {
        let place = try SilentPlace(listener)
        let error = await #expect(throws: ServiceError.self) { try await place.client.call(SlowCall()) }
        #expect(error?.code == .serviceUnavailable)
        #expect(error?.message == "The service whorld does not respond: it did not answer in time.")
        #expect(error?.recovery == "Run `systemctl status whorld` to find out why.")
        // The call's connection, and the one on which the service was asked.
        #expect(place.transport.connections == 2)
    }

    @Test func `is asked once for all calls that wait, and those that follow at once do not wait`()
        async throws
    {
        let place = try SilentPlace(.none, rest: .seconds(600))
        let client = place.client
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await #expect(throws: ServiceError.self) { try await client.call(SlowCall()) }
                }
            }
        }
        let before = place.transport.connections
        for _ in 0..<5 {
            await #expect(throws: ServiceError.self) { try await place.client.call(SlowCall()) }
        }
        #expect(place.transport.connections == before + 5)
        await #expect(throws: ServiceError.self) {
            try await blocking { try client.callBlocking(SlowCall()) }
        }
        #expect(place.transport.connections == before + 5)
    }

    @Test func `is asked again by calls that are made later`() async throws {
        let place = try SilentPlace(.none, rest: .zero)
        for count in [2, 4] {
            await #expect(throws: ServiceError.self) { try await place.client.call(SlowCall()) }
            #expect(place.transport.connections == count)
        }
    }

    @Test func `ends an agent, too`() async throws {
        let place = try SilentPlace(.none)
        let error = await #expect(throws: ServiceError.self) {
            try await RemoteAgent(over: place.transport).run(on: ScriptedPresenter()) {}
        }
        #expect(error?.code == .serviceUnavailable && error?.recovery.contains("systemctl status") == true)
    }

    @Test func `is waited for where it answers on another connection`() async throws {
        let place = try SilentPlace(.service, first: .milliseconds(50), second: .seconds(60))
        // The service answers this call only after it was asked who it is, and some time later.
        #expect(try await place.client.call(SlowCall()).value == 2)
        #expect(place.transport.connections == 2)
    }

    @Test func `is asked nothing more where it answers soon`() async throws {
        let place = try SilentPlace(.service, first: .seconds(600), second: .seconds(60))
        for _ in 0..<20 { _ = try await place.client.call(SoonCall()) }
        #expect(place.transport.connections == 20)
    }

    @Test func `is asked nothing more once a part of the answer has come`() async throws {
        let place = try SilentPlace(.service, first: .seconds(600), second: .seconds(60))
        var waiting: [Int?] = []
        let reply = try await place.client.call(
            PartsCall(),
            update: { _ in waiting.append(place.client.watch?.waitingCount) }
        )
        #expect(waiting == [0])
        #expect(reply.value == 1 && place.transport.connections == 1)
    }
}

private struct SlowCall: ServiceOperation {
    typealias Reply = Valued<Int>
    static let name = "org.example.silent.Slow"
    static let rules = OperationRules(.once, by: .anyProgram)
}

private struct SoonCall: ServiceOperation {
    typealias Reply = Valued<Int>
    static let name = "org.example.silent.Soon"
    static let rules = OperationRules(.once, by: .anyProgram)
}

private struct PartsCall: ServiceOperation {
    typealias Reply = Valued<Int>
    static let name = "org.example.silent.Parts"
    static let rules = OperationRules(.once, by: .anyProgram)
}

/// A transport to a path, which counts the connections.
private final class WatchedPath: ServiceTransport {
    let answerLimits: AnswerWatch.Limits?
    private let path: String
    private let made = Mutex(0)

    init(_ path: String, _ limits: AnswerWatch.Limits) {
        self.path = path
        answerLimits = limits
    }

    var connections: Int { made.withLock(\.self) }

    func connect() throws(SystemCallError) -> Descriptor {
        made.withLock { $0 += 1 }
        return try UnixSocket.connect(to: path)
    }
}

/// A socket at which nobody answers, or a service; and a client of it.
private final class SilentPlace {
    /// Who listens.
    enum Listener {
        /// No one takes a connection.
        case none
        /// Connections are taken, and nothing is said.
        case mute
        /// A service answers.
        case service
    }

    let transport: WatchedPath
    let client: ServiceClient
    private let path: String
    private let socket: Descriptor
    private var server: ServiceServer?

    init(
        _ listener: Listener,
        first: Duration = .milliseconds(100),
        second: Duration = .milliseconds(200),
        rest: Duration = .seconds(5)
    ) throws {
        path = NSTemporaryDirectory() + "/whorl-silent-\(UUID().uuidString.prefix(8))"
        socket = try UnixSocket.listen(at: path)
        transport = WatchedPath(path, AnswerWatch.Limits(first: first, second: second, rest: rest))
        client = ServiceClient(transport: transport)
        switch listener {
        case .none: break
        case .mute:
            let socket = socket
            requireThread("test.mute") { Self.takeAll(from: socket) }
        case .service:
            server = ServiceServer(Self.router(transport))
            try server?.listen(on: socket)
        }
    }

    deinit {
        server?.stop()
        shutdown(socket.number, Int32(SHUT_RDWR))
        unlink(path)
    }

    /// Takes connections, and holds them until the socket is shut down.
    private static func takeAll(from socket: Descriptor) {
        var taken: [Descriptor] = []
        while true {
            var place = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, -1) == 1, place.revents & Int16(POLLHUP) == 0,
                let next = try? UnixSocket.accept(from: socket)
            else { return }
            taken.append(next)
        }
    }

    private static func router(_ transport: WatchedPath) -> Router {
        var router = Router(ServiceInfo(vendor: "", product: "", version: ""))
        router.on(SlowCall.name, admitting: Router.everyCaller) {
            (_: SlowCall, _) async throws(ServiceRefusal) in
            while transport.connections < 2 { await OffPoolTimer.waitUncancelled(.milliseconds(20)) }
            await OffPoolTimer.waitUncancelled(.milliseconds(300))
            return ServiceReply(Valued(transport.connections))
        }
        router.on(SoonCall.name, admitting: Router.everyCaller) {
            (_: SoonCall, _) async throws(ServiceRefusal) in
            ServiceReply(Valued(1))
        }
        router.on(PartsCall.name, admitting: Router.everyCaller) {
            (_: PartsCall, call) async throws(ServiceRefusal) in
            call.update(Valued(1))
            return ServiceReply(Valued(transport.connections))
        }
        return router
    }
}
