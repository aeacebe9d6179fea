// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import Foundation
import Glibc
import Synchronization
import Testing
import WhorlService

@testable import WhorlIPC
@testable import WhorlRemote

@Suite("A client's connections", .timeLimit(.minutes(5)))
struct KeptConnectionTests {
    @Test func `what may be said twice goes over the connection of the call before`() async throws {
        let place = try Place()
        for _ in 0..<5 { _ = try await place.call(.ask) }
        #expect(place.connections == 1)
        for _ in 0..<5 { _ = try await place.callBlocking(.ask) }
        #expect(place.connections == 1)
    }

    @Test func `a change gets a connection of its own`() async throws {
        let place = try Place()
        _ = try await place.call(.ask)
        _ = try await place.call(.change)
        #expect(place.connections == 2)
        _ = try await place.callBlocking(.change)
        #expect(place.connections == 3)
    }

    @Test func `calls at the same time have a connection each`() async throws {
        let place = try Place()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await place.call(.wait) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers).count == 8 && place.connections == 8)
    }

    @Test func `is asked again where the service was started again in between`() async throws {
        let place = try Place()
        _ = try await place.call(.ask)
        try place.restart()
        _ = try await place.call(.ask)
        try place.restart()
        _ = try await place.callBlocking(.ask)
        #expect(place.connections == 3 && place.calls(of: .ask) == 3)
    }

    @Test func `a question is asked again where the service leaves before it answers`() async throws {
        let place = try Place()
        _ = try await place.call(.ask)
        _ = try await place.call(.leave)
        #expect(place.calls(of: .leave) == 2)
        _ = try await place.callBlocking(.ask)
        place.leavesAgain()
        _ = try await place.callBlocking(.leave)
        #expect(place.calls(of: .leave) == 4)
    }

    @Test func `a change is never sent twice`() async throws {
        let place = try Place()
        _ = try await place.call(.ask)
        await #expect(throws: ServiceError.self) { try await place.call(.leaveChanging) }
        #expect(place.calls(of: .leaveChanging) == 1)
        _ = try await place.callBlocking(.ask)
        place.leavesAgain()
        await #expect(throws: ServiceError.self) { try await place.callBlocking(.leaveChanging) }
        #expect(place.calls(of: .leaveChanging) == 2)
    }

    @Test func `a refusal leaves the connection in use`() async throws {
        let place = try Place()
        await #expect(throws: ServiceError.self) { try await place.call(.refuse) }
        _ = try await place.call(.ask)
        #expect(place.connections == 1)
    }
}

/// A method of the service at a place.
private protocol PlaceOperation: ServiceOperation where Reply == Valued<Int> {
    static var method: Place.Method { get }
}

extension PlaceOperation {
    static var name: String { "org.example.place.\(method.rawValue)" }
    static var rules: OperationRules {
        OperationRules(method == .change || method == .leaveChanging ? .once : .repeatable, by: .anyProgram)
    }
}

private struct Ask: PlaceOperation { static let method = Place.Method.ask }
private struct Change: PlaceOperation { static let method = Place.Method.change }
private struct Wait: PlaceOperation { static let method = Place.Method.wait }
private struct Leave: PlaceOperation { static let method = Place.Method.leave }
private struct LeaveChanging: PlaceOperation { static let method = Place.Method.leaveChanging }
private struct Refuse: PlaceOperation { static let method = Place.Method.refuse }

/// A service at a path that counts its calls, and a client of it that counts its connections.
private final class Place: Sendable {
    /// The methods of the service.
    enum Method: String {
        case ask, change, wait, leave, leaveChanging, refuse

        var operation: any PlaceOperation {
            switch self {
            case .ask: Ask()
            case .change: Change()
            case .wait: Wait()
            case .leave: Leave()
            case .leaveChanging: LeaveChanging()
            case .refuse: Refuse()
            }
        }
    }

    private struct State {
        var server: ServiceServer?
        var calls: [Method: Int] = [:]
        var leaves = true
    }

    private let path: String
    private let transport: CountedTransport
    private let client: ServiceClient
    private let state = Mutex(State())

    init() throws {
        path = NSTemporaryDirectory() + "/whorl-kept-\(UUID().uuidString.prefix(8))"
        transport = CountedTransport(PathTransport(path: path, owners: [getuid()]))
        // Kept for longer than the test lasts, however slow the machine is.
        client = ServiceClient(
            transport: transport,
            keeping: IdleConnections(for: .seconds(600)) { .current }
        )
        try start()
    }

    deinit {
        state.withLock { $0.server?.stop() }
        unlink(path)
    }

    var connections: Int { transport.count }

    func calls(of method: Method) -> Int { state.withLock { $0.calls[method] ?? 0 } }

    /// Lets the service leave at the next call that makes it.
    func leavesAgain() { state.withLock { $0.leaves = true } }

    func call(_ method: Method) async throws -> Int {
        try await call(method.operation)
    }

    func callBlocking(_ method: Method) async throws -> Int {
        // The service answers on the threads that tests run on.
        try await blocking { [client] in
            try Self.callBlocking(method.operation, client)
        }
    }

    private func call(_ operation: some PlaceOperation) async throws -> Int {
        try await client.call(operation).value
    }

    private static func callBlocking(_ operation: some PlaceOperation, _ client: ServiceClient) throws -> Int
    {
        try client.callBlocking(operation).parameters.value
    }

    /// Listens again, and hangs up on all clients.
    func restart() throws {
        let old = state.withLock(\.server)
        unlink(path)
        try start()
        old?.stop()
    }

    private func start() throws {
        var router = Router(ServiceInfo(vendor: "", product: "", version: ""))
        for method in [Method.ask, .change, .wait, .leave, .leaveChanging, .refuse] {
            router.on("org.example.place.\(method.rawValue)", admitting: Router.everyCaller) {
                [weak self] (_: NoValue, _) async throws(ServiceRefusal) in
                // A call may outlive the test, whose client has gone then.
                ServiceReply(Valued(try await self?.answer(method) ?? 0))
            }
        }
        let server = ServiceServer(router)
        try server.listen(on: UnixSocket.listen(at: path))
        state.withLock { $0.server = server }
    }

    private func answer(_ method: Method) async throws(ServiceRefusal) -> Int {
        let (count, leaves) = state.withLock { state in
            state.calls[method, default: 0] += 1
            defer { if method == .leave || method == .leaveChanging { state.leaves = false } }
            return (state.calls[method] ?? 0, state.leaves)
        }
        switch method {
        case .ask, .change: break
        // Until all calls of the test are under way.
        case .wait: while calls(of: .wait) < 8 { await Task.yield() }
        case .refuse: throw ServiceRefusal("org.example.place.Refused")
        case .leave, .leaveChanging:
            // The test fails where the service cannot be started again.
            if leaves { try? restart() }
        }
        return count
    }
}
