// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import RelyingParty
import Testing

@testable import LoginServer

struct `the guard of a connection` {
    private func channel(from peer: String = "127.0.0.1", trusting: [String] = []) throws -> EmbeddedChannel {
        let proxies = ProxyPolicy(trusted: trusting.compactMap(AddressRange.init))
        let handler = ConnectionGuard(timeout: .seconds(10), mostBytes: 100) { proxies.admitsPlain($0) }
        let channel = EmbeddedChannel(handler: handler)
        let address = try SocketAddress(ipAddress: peer, port: 1)
        channel.remoteAddress = address
        try channel.connect(to: address).wait()
        return channel
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "192.0.2.2", "::ffff:192.0.2.2"])
    func `lets this machine and a trusted proxy in`(peer: String) throws {
        #expect(try channel(from: peer, trusting: ["192.0.2.2"]).isActive)
    }

    // Docs/Security.md: L26
    @Test(arguments: ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "128.0.0.1", "fe80::1", "0.0.0.0"])
    func `lets nobody else in without TLS, and reads nothing of theirs`(peer: String) throws {
        let channel = try channel(from: peer, trusting: ["192.0.2.2"])
        #expect(!channel.isActive)
        #expect(try channel.readOutbound(as: HTTPResponsePart.self) == nil)
    }

    // Docs/Security.md: L31
    @Test func `lets one address have so many connections, and as many again once they are closed`() throws {
        let counter = ConnectionCounter(most: 2) { $0.isLoopback }
        func connection(_ peer: String) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handler: ConnectionGuard(timeout: .seconds(10), counter: counter))
            let address = try SocketAddress(ipAddress: peer, port: 1)
            channel.remoteAddress = address
            try channel.connect(to: address).wait()
            return channel
        }
        let first = try connection("2001:db8::1")
        #expect(first.isActive)
        #expect(try connection("2001:db8::2").isActive)
        #expect(try !connection("2001:db8::3").isActive)
        #expect(try connection("2001:db8:0:1::3").isActive, "another address")
        for _ in 0..<5 { #expect(try connection("127.0.0.1").isActive, "this machine") }
        try first.close().wait()
        #expect(try connection("2001:db8::3").isActive)
        #expect(try !connection("2001:db8::4").isActive)
        #expect((counter.addresses, counter.open, counter.refused) == (2, 8, 2))
    }

    @Test func `cuts off who does not take an answer in time`() throws {
        let channel = try channel()
        for each in [HTTPResponsePart.head(HTTPResponse(status: .ok)), .body(ByteBuffer(string: "x"))] {
            channel.write(each, promise: nil)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `cuts off who takes one answer and not the next, and counts each anew`() throws {
        let channel = try channel()
        let head = HTTPResponsePart.head(HTTPResponse(status: .ok))
        for each in [head, .end(nil), head] { channel.write(each, promise: nil) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        channel.flush()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive, "the second answer has its own time")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `leaves who has taken all answers alone`() throws {
        let channel = try channel()
        for _ in 0..<3 {
            for each in [HTTPResponsePart.head(HTTPResponse(status: .ok)), .end(nil)] {
                try channel.writeOutbound(each)
            }
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
    }

    private let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "x", path: "/")
    )

    @Test func `cuts off a request whose body is not there in time`() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        for _ in 0..<9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `leaves a request alone that is there, however long its answer takes`() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
    }

    @Test func `cuts off a body that does not end, and counts each request anew`() throws {
        let channel = try channel()
        let part = HTTPRequestPart.body(ByteBuffer(repeating: 0, count: 50))
        for _ in 0..<3 {
            for each in [head, part, part, .end(nil)] { try channel.writeInbound(each) }
        }
        #expect(channel.isActive)
        for each in [head, part, part, .body(ByteBuffer(string: "x"))] { try channel.writeInbound(each) }
        #expect(!channel.isActive)
    }

    @Test func `gives a problem to what is no HTTP, and leaves other answers as they are`() throws {
        let channel = try channel()
        let empty = HTTPResponse(status: .badRequest, headerFields: [.contentLength: "0"])
        try channel.writeOutbound(HTTPResponsePart.head(empty))
        guard case .head(let answer)? = try channel.readOutbound(as: HTTPResponsePart.self),
            case .body(let body)? = try channel.readOutbound(as: HTTPResponsePart.self)
        else {
            Issue.record("there is no body")
            return
        }
        #expect(answer.headerFields[.contentType] == "application/problem+json")
        #expect(answer.headerFields[.contentLength] == String(body.readableBytes))
        let other = HTTPResponsePart.head(HTTPResponse(status: .noContent))
        try channel.writeOutbound(other)
        #expect(try channel.readOutbound(as: HTTPResponsePart.self) == other)
    }
}
