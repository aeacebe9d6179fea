// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import LoginServer

/// Counts what passes the gate: parts of requests, and wishes to read.
private final class Counter: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = Any

    var reads = 0

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }
}

struct `the gate of requests` {
    private let counter = Counter()

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: [counter, RequestGate()])
        try channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func request(_ path: String, closes: Bool = false) -> [HTTPRequestPart] {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: path)
        if closes { head.headerFields[.connection] = "close" }
        return [.head(head), .end(nil)]
    }

    private func answer(_ channel: EmbeddedChannel) throws {
        for part in [HTTPResponsePart.head(HTTPResponse(status: .ok)), .end(nil)] {
            channel.write(part, promise: nil)
        }
        channel.flush()
    }

    private func paths(_ channel: EmbeddedChannel) throws -> [String] {
        var paths: [String] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            if case .head(let head) = part { paths.append(head.path ?? "") }
        }
        return paths
    }

    @Test func `lets in one request at a time, in their order`() throws {
        let channel = try channel()
        for path in ["/1", "/2", "/3"] { for part in request(path) { try channel.writeInbound(part) } }
        for path in ["/1", "/2", "/3"] {
            #expect(try paths(channel) == [path])
            #expect(try paths(channel).isEmpty)
            try answer(channel)
        }
        #expect(try paths(channel).isEmpty)
        for part in request("/4") { try channel.writeInbound(part) }
        #expect(try paths(channel) == ["/4"])
    }

    @Test func `waits until the client has taken the answer`() throws {
        let channel = try channel()
        for path in ["/1", "/2"] { for part in request(path) { try channel.writeInbound(part) } }
        #expect(try paths(channel) == ["/1"])
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        #expect(try paths(channel).isEmpty)
        channel.flush()
        #expect(try paths(channel) == ["/2"])
    }

    // Docs/Security.md: L30
    @Test func `reads nothing more while a request is being answered or waits`() throws {
        let channel = try channel()
        for part in request("/1") + request("/2") { try channel.writeInbound(part) }
        let before = counter.reads
        channel.read()
        channel.read()
        #expect(counter.reads == before)
        try answer(channel)
        #expect(counter.reads == before, "the second one is being answered")
        try answer(channel)
        #expect(counter.reads == before + 1)
    }

    @Test func `reads the rest of a request whose answer is there already`() throws {
        let channel = try channel()
        let head = HTTPRequest(method: .post, scheme: "http", authority: "x", path: "/1")
        try channel.writeInbound(HTTPRequestPart.head(head))
        try answer(channel)
        let before = counter.reads
        channel.read()
        #expect(counter.reads == before + 1)
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        for part in request("/2") { try channel.writeInbound(part) }
        #expect(try paths(channel) == ["/1", "/2"])
    }

    @Test func `keeps an error and the end of what a client sends behind the requests before them`() throws {
        struct Refused: Error {}
        let channel = try channel()
        for part in request("/1") + request("/2") { try channel.writeInbound(part) }
        channel.pipeline.fireErrorCaught(Refused())
        #expect(throws: Never.self) { try channel.throwIfErrorCaught() }
        try answer(channel)
        #expect(try paths(channel) == ["/1", "/2"])
        #expect(throws: Never.self) { try channel.throwIfErrorCaught() }
        try answer(channel)
        #expect(throws: Refused.self) { try channel.throwIfErrorCaught() }
    }

    @Test func `ignores what follows the request that says it is the last`() throws {
        let channel = try channel()
        for part in request("/1", closes: true) + request("/2") { try channel.writeInbound(part) }
        try answer(channel)
        for part in request("/3") { try channel.writeInbound(part) }
        #expect(try paths(channel) == ["/1"])
    }

    @Test(arguments: [false, true])
    func `closes the connection of a client that makes more wait than it may`(isLong: Bool) throws {
        let channel = try channel()
        let field = String(repeating: "x", count: isLong ? 8_000 : 1)
        var head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/")
        head.headerFields[.accept] = field
        for number in 0..<(isLong ? 9 : 33) {
            #expect(channel.isActive, "request \(number)")
            for part in [HTTPRequestPart.head(head), .end(nil)] where channel.isActive {
                try channel.writeInbound(part)
            }
        }
        #expect(channel.isActive == true)
        for part in [HTTPRequestPart.head(head), .end(nil)] where channel.isActive {
            try channel.writeInbound(part)
        }
        #expect(!channel.isActive)
    }
}
