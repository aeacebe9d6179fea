// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Limits the time and size of one connection, and adds a body to empty responses.
///
/// Hummingbird's idle timeout ends a connection on which nothing arrives. This guard also ends a request that arrives a
/// byte at a time, and a response that the client does not read.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The timeout from the end of a request's head to the end of its body, and from the head of a response to its last
    /// byte.
    private let timeout: TimeAmount
    /// The number of bytes of a refused body to read before closing the connection, so that the client can read the
    /// response.
    private let mostBytes: Int
    /// Whether the peer may connect at all.
    private let admits: @Sendable (SocketAddress?) -> Bool
    private let counter: ConnectionCounter?
    /// The counted peer, while it is connected.
    private var counted: SocketAddress??
    private var requestDeadline: Scheduled<Void>?
    private var bytes = 0
    private var answerDeadline: Scheduled<Void>?
    /// The number of responses whose last byte was not yet passed to the system.
    private var answers = 0

    init(
        timeout: TimeAmount,
        mostBytes: Int = 1 << 20,
        counter: ConnectionCounter? = nil,
        admits: @escaping @Sendable (SocketAddress?) -> Bool = { _ in true }
    ) {
        self.counter = counter
        self.timeout = timeout
        self.mostBytes = mostBytes
        self.admits = admits
    }

    /// Closes the connection of a peer that may not connect, without reading from it.
    func channelActive(context: ChannelHandlerContext) {
        let peer = context.remoteAddress
        guard admits(peer), counter?.enter(peer) ?? true else {
            context.close(promise: nil)
            return
        }
        counted = .some(peer)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            bytes = 0
            requestDeadline = deadline(context.channel)
        case .body(let part):
            bytes += part.readableBytes
            if bytes > mostBytes {
                context.close(promise: nil)
                return
            }
        case .end:
            requestDeadline?.cancel()
            requestDeadline = nil
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        for deadline in [requestDeadline, answerDeadline] { deadline?.cancel() }
        (requestDeadline, answerDeadline) = (nil, nil)
        if let peer = counted { counter?.leave(peer) }
        counted = nil
        context.fireChannelInactive()
    }

    private func deadline(_ channel: any Channel) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            answers += 1
            if answers == 1 { answerDeadline = deadline(context.channel) }
            write(head, context: context, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let promise = promise ?? context.eventLoop.makePromise()
            let channel = context.channel
            promise.futureResult.assumeIsolated().whenComplete { _ in self.answerIsOut(channel) }
            context.write(data, promise: promise)
        }
    }

    private func answerIsOut(_ channel: any Channel) {
        answers -= 1
        answerDeadline?.cancel()
        answerDeadline = answers > 0 && channel.isActive ? deadline(channel) : nil
    }

    /// Converts Hummingbird's empty 400 response to malformed HTTP into a problem like all others.
    private func write(
        _ head: HTTPResponse,
        context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>?
    ) {
        var head = head
        guard head.status == .badRequest, head.headerFields[.contentLength] == "0" else {
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        }
        let body = Problem(.malformed, "Malformed HTTP/1.1 request.").json
        head.headerFields[.contentLength] = String(body.count)
        head.headerFields[.contentType] = Problem.mediaType
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: promise)
    }
}
