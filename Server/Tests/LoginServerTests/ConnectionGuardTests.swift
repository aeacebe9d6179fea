// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import LoginServer

struct `the guard of a connection` {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ConnectionGuard(requestTimeout: .seconds(10), mostBytes: 100))
        try channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
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
