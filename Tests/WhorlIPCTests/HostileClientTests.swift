// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc
import Testing

@testable import WhorlIPC

@Suite struct `A hostile client` {
    static let garbage: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\n\r\n\0".utf8), [0], [0xFF, 0xFE, 0], Array("[]\0".utf8), Array("{}\0".utf8),
        Array("{\"method\":1}\0".utf8), Array("{\"method\":null}\0".utf8),
        Array("{\"method\":\"a.b\",\"method\":\"a.c\"}\0".utf8),
        Array("{\"method\":\"a.b\",\"more\":1}\0".utf8),
        Array("{\"a\":".utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 10_000) + [0],
    ]

    @Test(arguments: garbage) func `that sends no call is hung up on`(bytes: [UInt8]) async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            client.send(bytes)
            #expect(client.isHungUpOn())
        }
    }

    @Test func `that sends a message of 1 GiB is hung up on after the first`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            let part = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
            var sent = 0
            while sent < 1 << 30, client.send(part) { sent += part.count }
            #expect(sent < 4 << 20, "\(sent) bytes were taken")
            // It still reads why.
            #expect(client.receive()?.contains("io.whorl.Connection.MessageRefused") == true)
        }
    }

    @Test func `that does not read what the service waits for is hung up on after a time`() async throws {
        var limits = Channel.Limits()
        limits.waiting = .milliseconds(50)
        let (socket, client) = try UnixSocket.pair()
        let channel = Channel(socket, limits: limits)
        channel.start(onMessage: { _ in }, onEnd: { _ in })
        channel.send(Array("{}".utf8))
        #expect((channel.unread ?? 0) > 0)
        await channel.untilRead()
        #expect(channel.unread == nil)
        // The client was there until now.
        #expect(client.number >= 0)
    }

    @Test func `that reads lets the service go on as soon as it has read`() async throws {
        let (socket, client) = try UnixSocket.pair()
        let channel = Channel(socket)
        channel.start(onMessage: { _ in }, onEnd: { _ in })
        channel.send([UInt8](repeating: UInt8(ascii: " "), count: 100_000))
        let waiting = Task { await channel.untilRead() }
        var room = [UInt8](repeating: 0, count: 100_001)
        var count = 0
        while count < room.count { count += max(0, read(client.number, &room, room.count - count)) }
        await waiting.value
        #expect(channel.unread == 0)
    }

    @Test func `that stops in the middle of a message is hung up on after a time`() async throws {
        try await apart {
            let service = try TestService { $0.channel.message = .milliseconds(100) }
            let client = try RawClient(service)
            client.send(Array(#"{"method":"#.utf8))
            #expect(client.receive()?.contains("io.whorl.Connection.MessageRefused") == true)
            #expect(client.isHungUpOn())
        }
    }

    @Test func `that never reads is hung up on after a time`() async throws {
        try await apart {
            let service = try TestService { $0.channel.reading = .milliseconds(200) }
            let client = try RawClient(service)
            // The replies are many times what the kernel keeps for a reader.
            client.send(#"{"method":"org.example.test.Count","parameters":{"number":200000},"more":true}"#)
            #expect(client.seesHangUp())
        }
    }

    @Test func `holds no more memory with calls that wait than with half messages`() async throws {
        try await apart {
            let service = try TestService { $0.bytesOfUser = 1 << 20 }
            let client = try RawClient(service)
            client.send(#"{"method":"org.example.test.Wait","parameters":{"text":""}}"#)
            let text = String(repeating: "x", count: 200_000)
            for _ in 0..<8 {
                client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"\#(text)"}}"#)
            }
            #expect(client.seesHangUp())
        }
    }

    @Test func `that queues more calls than it may is hung up on`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            for _ in 0..<20 { client.send(#"{"method":"org.example.test.Wait","parameters":{"text":""}}"#) }
            #expect(client.isHungUpOn())
        }
    }

    @Test func `gets no more connections than its share, and one again when one ends`() async throws {
        try await apart {
            let service = try TestService { $0.connectionsOfUser = 16 }
            var clients = try (0..<16).map { _ in try RawClient(service) }
            for client in clients {
                client.send(#"{"method":"org.example.test.Echo","parameters":{"text":""}}"#)
                #expect(client.receive() != nil)
            }
            #expect(try RawClient(service).isHungUpOn())
            // The service need not have noticed the end of one to serve the next, for as many as the share.
            for _ in 0..<16 {
                clients.removeLast().hangUp()
                let client = try RawClient(service)
                client.send(#"{"method":"org.example.test.Echo","parameters":{"text":""}}"#)
                #expect(client.receive() != nil)
                clients.append(client)
            }
        }
    }

    @Test func `holds no more memory with many half messages than with one`() async throws {
        try await apart {
            let service = try TestService { $0.bytesOfUser = 1 << 20 }
            let half = [UInt8](repeating: UInt8(ascii: " "), count: 900_000)
            let first = try RawClient(service)
            first.send(half)
            while service.server.bytesHeld(of: geteuid()) < half.count { usleep(1000) }
            let others = try (0..<8).map { _ in try RawClient(service) }
            let refused = others.filter { !$0.send(half) || $0.isHungUpOn() }
            #expect(refused.count == others.count)
            // The first one may finish its message all the same.
            first.send(Array(#"{"method":"org.example.test.Echo","parameters":{"text":"x"}}"#.utf8) + [0])
            #expect(first.receive() == #"{"parameters":{"text":"x"}}"#)
        }
    }

    @Test func `that floods with connections does not keep others from being served`() async throws {
        let service = try TestService { $0.connectionsOfUser = 2000 }
        let client = try service.connect()
        let path = service.path
        async let flood: Void = apart {
            for _ in 0..<3000 {
                guard let client = try? RawClient(path) else { continue }
                client.send(Array(#"{"method":"org"#.utf8))
            }
        }
        for number in 0..<50 {
            let words = TestService.Words(text: "\(number)")
            let reply: ServiceConnection.Reply<TestService.Words> = try await client.call(
                "org.example.test.Echo",
                words
            )
            #expect(reply.parameters == words)
        }
        try await flood
    }
}
