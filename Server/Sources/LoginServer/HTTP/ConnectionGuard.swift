// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Keeps one connection within bounds of time and size, and gives a body to answers that have none.
///
/// The idle timeout of Hummingbird ends a connection on which nothing arrives; a request that arrives a byte at a
/// time ends here.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// From the end of a request's head to the end of its body.
    private let requestTimeout: TimeAmount
    /// What a refused body may still bring, in bytes, before the connection is cut: so long the answer can be read.
    private let mostBytes: Int
    private var deadline: Scheduled<Void>?
    private var bytes = 0

    init(requestTimeout: TimeAmount, mostBytes: Int = 1 << 20) {
        self.requestTimeout = requestTimeout
        self.mostBytes = mostBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            bytes = 0
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: requestTimeout) { channel.close(promise: nil) }
        case .body(let part):
            bytes += part.readableBytes
            if bytes > mostBytes {
                context.close(promise: nil)
                return
            }
        case .end: cancelDeadline()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancelDeadline()
        context.fireChannelInactive()
    }

    private func cancelDeadline() {
        deadline?.cancel()
        deadline = nil
    }

    /// Hummingbird answers what is not HTTP with an empty 400; here it becomes a problem like every other.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headerFields[.contentLength] == "0"
        else {
            context.write(data, promise: promise)
            return
        }
        let body = Problem(.malformed, "The request is not HTTP/1.1 as this server reads it.").json
        head.headerFields[.contentLength] = String(body.count)
        head.headerFields[.contentType] = Problem.mediaType
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: promise)
    }
}
