// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import Synchronization

@testable import WhorlIPC

/// A service with a few methods, on a socket in a folder of its own.
final class TestService {
    struct Words: Codable, Sendable, Equatable { var text: String }
    struct Count: Codable, Sendable, Equatable { var number: Int }
    struct Attached: Codable, Sendable { let secret: SecretBox }
    struct Pair: Codable, Sendable { let first: SecretBox, second: SecretBox }
    struct Place: Codable, Sendable { var secret: Int }
    struct Asker: Codable, Sendable { var uid: UInt32, pid: Int32? }

    let path: String
    let server: ServiceServer
    /// Says that a call of `Wait` begins (`true`) and that it was cancelled (`false`).
    let waits: AsyncStream<Bool>
    private let folder: URL

    static let description = """
        interface org.example.test
        method Echo(text: string) -> (text: string)
        """

    init(memory: ClientMemory? = nil, _ change: (inout ServiceServer.Limits) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "whorl-ipc-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "s").path
        var limits = ServiceServer.Limits()
        change(&limits)
        let (waits, sink) = AsyncStream.makeStream(of: Bool.self)
        self.waits = waits
        server = ServiceServer(Self.router(sink), limits: limits, memory: memory)
        try server.listen(on: UnixSocket.listen(at: path))
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func connect() throws -> ServiceConnection { try ServiceConnection(path: path) }

    private static func router(_ waits: AsyncStream<Bool>.Continuation) -> Router {
        var router = Router(ServiceInfo(vendor: "Whorl", product: "test", version: "1"))
        router.describe("org.example.test", description)
        router.on("org.example.test.Echo", admitting: Router.everyCaller) {
            (words: Words, _) async throws(ServiceRefusal) in
            ServiceReply(words)
        }
        router.on("org.example.test.Count", admitting: Router.everyCaller) {
            (count: Count, call) async throws(ServiceRefusal) in
            for number in 1..<max(1, count.number) { call.update(Count(number: number)) }
            return ServiceReply(count)
        }
        router.on("org.example.test.Refuse", admitting: Router.everyCaller) {
            (words: Words, _) async throws(ServiceRefusal) -> ServiceReply<Words> in
            throw ServiceRefusal("org.example.test.Refused", ["why": words.text])
        }
        router.on("org.example.test.Turn", admitting: Router.everyCaller, taking: 1) {
            (attached: Attached, _) async throws(ServiceRefusal) in
            let turned = attached.secret.bytes.withUnsafeBytes { bytes in
                SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes.reversed()) }
            }
            return ServiceReply(Attached(secret: SecretBox(turned)))
        }
        router.on("org.example.test.TurnTwo", admitting: Router.everyCaller, taking: 2) {
            (pair: Pair, _) async throws(ServiceRefusal) in
            ServiceReply(Words(text: "\(pair.first.bytes.count) \(pair.second.bytes.count)"))
        }
        for (name, count) in [("Wait", 8), ("WaitWithOne", 1)] {
            router.on("org.example.test.\(name)", admitting: Router.everyCaller, taking: count) {
                (words: Words, _) async throws(ServiceRefusal) in
                waits.yield(true)
                do { try await Task.sleep(for: .seconds(600)) } catch { waits.yield(false) }
                return ServiceReply(words)
            }
        }
        router.on("org.example.test.Asker", admitting: Router.everyCaller) {
            (_: NoParameters, call) async throws(ServiceRefusal) in
            ServiceReply(Asker(uid: call.client.user.uid, pid: call.client.process?.pid))
        }
        return router
    }
}

/// A client that sends whatever bytes a test wants.
struct RawClient {
    let socket: Descriptor

    init(_ service: TestService) throws { try self.init(service.path) }

    /// Takes a connection that another process has made.
    init(over socket: Descriptor) { self.socket = socket }

    init(_ path: String) throws { socket = try UnixSocket.connect(to: path) }

    /// Hangs up, so that the service sees it when this returns.
    ///
    /// Closing the descriptor would not do: a process that another test starts at this moment has a copy of it until its
    /// own program begins.
    func hangUp() { shutdown(socket.number, Int32(SHUT_RDWR)) }

    /// Sends bytes as they are; `false` once the service has hung up.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            var place = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            guard poll(&place, 1, 60_000) == 1, place.revents & Int16(POLLHUP | POLLERR) == 0 else {
                return false
            }
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if count < 0, errno == EAGAIN { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func send(_ text: String) { send(Array(text.utf8) + [0]) }

    /// The next message as text; `nil` when the service has hung up, or says nothing for 60 seconds.
    func receive() -> String? {
        var message: [UInt8] = []
        while true {
            var place = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, 60_000) == 1 else { return nil }
            var byte: UInt8 = 0
            guard recv(socket.number, &byte, 1, 0) == 1 else { return nil }
            if byte == 0 { return String(decoding: message, as: UTF8.self) }
            message.append(byte)
        }
    }

    /// Whether the service hangs up within 60 seconds on a client that reads nothing.
    func seesHangUp() -> Bool {
        var place = pollfd(fd: socket.number, events: 0, revents: 0)
        return poll(&place, 1, 60_000) == 1 && place.revents & Int16(POLLHUP) != 0
    }

    /// Whether the service hangs up within 60 seconds, whatever it says before.
    func isHungUpOn() -> Bool {
        while true {
            var place = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, 60_000) == 1 else { return false }
            var room = [UInt8](repeating: 0, count: 4096)
            if recv(socket.number, &room, room.count, 0) <= 0 { return true }
        }
    }
}

/// Runs what waits on a thread of its own, so that the service's handlers have the pool.
func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try body() }) }.start()
    }
}
