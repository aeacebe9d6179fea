// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WhorlIPC

/// A TCP socket with bytes that its other side does not read.
///
/// Closing the last descriptor of it waits for 200 seconds, or until the other side is closed.
private struct Lingering {
    private var other: Descriptor?
    private let listener: Descriptor
    /// The socket itself, which the test gives away.
    private(set) var socket: Descriptor?

    init() throws {
        func make() throws -> Descriptor {
            let number = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            try #require(number >= 0)
            return Descriptor(owning: number)
        }
        listener = try make()
        let socket = try make()
        // A window that does not grow, or the kernel of the other side would take the bytes after all.
        var room: Int32 = 4096
        let isSmall =
            setsockopt(listener.number, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
            == 0
        try #require(isSmall)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listening, calling) = (listener.number, socket.number)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listening, address, size) == 0 && listen(listening, 1) == 0
                    && getsockname(listening, address, &size) == 0 && connect(calling, address, size) == 0
            }
        }
        try #require(isConnected)
        let accepted = accept(listening, nil, nil)
        try #require(accepted >= 0)
        // Programs that other tests start must not keep it open.
        try #require(fcntl(accepted, F_SETFD, FD_CLOEXEC) == 0)
        other = Descriptor(owning: accepted)
        let bytes = [UInt8](repeating: 0, count: 65_536)
        while send(calling, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        var linger = linger(l_onoff: 1, l_linger: 200)
        let length = socklen_t(MemoryLayout<Glibc.linger>.size)
        try #require(setsockopt(calling, SOL_SOCKET, SO_LINGER, &linger, length) == 0)
        self.socket = socket
    }

    /// Sends the socket with a message, and keeps no descriptor of it.
    mutating func give(to channel: Channel, with message: String) throws {
        let socket = try #require(self.socket)
        self.socket = nil
        channel.send(Array(message.utf8), [socket])
    }

    /// Closes the other side, which has not read everything, so that the descriptor lingers no longer.
    mutating func end() { other = nil }
}

/// Sends sockets with calls of one connection, and ends it: the service waits for the first of them to close.
private func lingering(_ count: Int, in service: TestService, connections: Int) async throws
    -> [Lingering]
{
    let sockets = try await give(count, to: service)
    while service.server.connectionCount(of: getuid()) > connections {
        try await Task.sleep(for: .milliseconds(5))
    }
    return sockets
}

/// Sends sockets with calls of one connection, and ends it.
private func give(_ count: Int, to service: TestService) async throws -> [Lingering] {
    let channel = Channel(try UnixSocket.connect(to: service.path))
    channel.start(onMessage: { _ in }, onEnd: { _ in })
    var sockets = try (0..<count).map { _ in try Lingering() }
    for index in sockets.indices {
        try sockets[index].give(
            to: channel,
            with: #"{"method":"org.example.test.Wait","parameters":{"text":"x"}}"#
        )
    }
    for await hasBegun in service.waits where hasBegun { break }
    while service.server.descriptorsHeld(of: getuid()) < count {
        try await Task.sleep(for: .milliseconds(5))
    }
    channel.close()
    return sockets
}

private func echo(_ client: ServiceConnection) async throws {
    let words = TestService.Words(text: "x")
    _ = try await client.call("org.example.test.Echo", words, returning: TestService.Words.self)
}

// Docs/Security.md: C13l
/// Each in a process of its own: a program that another test starts at this moment has a copy of the descriptor, and waits for its
/// end before it begins.
@Suite(.timeLimit(.minutes(5))) struct `A descriptor that lingers when it is closed` {
    @Test func `keeps no other call waiting, and counts until it is closed`() async {
        await #expect(processExitsWith: .success) {
            let service = try TestService()
            let other = try service.connect()
            try await echo(other)
            var sockets = try await lingering(3, in: service, connections: 1)
            try await echo(other)
            #expect(service.server.descriptorsHeld(of: getuid()) == 3)
            for index in sockets.indices { sockets[index].end() }
            while service.server.descriptorsHeld(of: getuid()) > 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test func `leaves its user no room for another connection when there are too many`() async {
        await #expect(processExitsWith: .success) {
            let service = try TestService { $0.descriptorsOfUser = 2 }
            var sockets = try await lingering(2, in: service, connections: 0)
            let refused = try RawClient(service)
            let answer = try await apart { refused.receive() }
            #expect(answer?.contains(#""quota":"descriptors""#) == true, "\(answer ?? "no answer")")
            for index in sockets.indices { sockets[index].end() }
            while service.server.descriptorsHeld(of: getuid()) > 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
            try await echo(try service.connect())
        }
    }

    @Test func `keeps no one waiting where it came to a connection that is refused unread`() async {
        await #expect(processExitsWith: .success) {
            let path = FileManager.default.temporaryDirectory.appending(path: "whorl-linger-\(UUID())").path
            defer { unlink(path) }
            let listener = try UnixSocket.listen(at: path)
            var lingering = try (0..<3).map { _ in try Lingering() }
            defer { for index in lingering.indices { lingering[index].end() } }
            for index in lingering.indices {
                let channel = Channel(try UnixSocket.connect(to: path))
                channel.start(onMessage: { _ in }, onEnd: { _ in })
                try lingering[index].give(to: channel, with: "{}")
                channel.close()
            }
            var limits = ServiceServer.Limits()
            limits.connectionsOfUser = 0
            let info = ServiceInfo(vendor: "Whorl", product: "test", version: "1")
            let server = ServiceServer(Router(info), limits: limits)
            defer { server.stop() }
            try server.listen(on: listener)
            let client = try RawClient(path)
            let answer = try await apart { client.receive() }
            #expect(answer?.contains("QuotaReached") == true, "\(answer ?? "no answer")")
        }
    }
}
