// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTPTypes

/// Processes the requests of a connection one at a time: the next one waits until the last byte of the response has
/// been passed on.
///
/// A client may send many requests in a row (RFC 9112, 9.3.2). Without the gate, each of them would use a slot and
/// memory, and one connection would count as hundreds. With it, a connection is not read while a request is being
/// processed, so the rest waits at the client.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The number of bytes read at a time, enough for only a few whole requests.
    ///
    /// The event loop responds to everything it has read before it accepts a connection or reads again. A single read
    /// on each connection therefore determines how long another client waits.
    private static let readSize = 512
    /// The maximum number of waiting parts of requests, and of bytes in them.
    ///
    /// More can arrive only if a client ends its half of the connection after them, or packs them into one TLS record;
    /// its connection is then closed.
    private static let mostParts = 64
    private static let mostBytes = 64 * 1024

    private enum Waiting {
        case part(HTTPRequestPart)
        case error(any Error)
        case event(Any)
    }

    private enum Request {
        case none
        /// Its head has arrived, but not its end.
        case arriving
        /// It is complete, but has no response yet.
        case complete
    }

    private var request = Request.none
    /// Whether the response ended before the request was complete, for example because its body is too large.
    private var isAnswered = false
    /// Whether the client announced that this is its last request, so that anything else is ignored.
    private var isLast = false
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var isReadHeld = false

    private var isBusy: Bool { request == .complete || !waiting.isEmpty }

    func handlerAdded(context: ChannelHandlerContext) {
        let allocator = FixedSizeRecvByteBufferAllocator(capacity: Self.readSize)
        context.channel.setOption(.recvAllocator, value: allocator).whenFailure { _ in
            // Other types of channels read as much as they want, and are closed if it is too much.
        }
        context.channel.setOption(.maxMessagesPerRead, value: 1).whenFailure { _ in }
    }

    func handlerRemoved(context: ChannelHandlerContext) { waiting = [] }

    func channelInactive(context: ChannelHandlerContext) {
        waiting = []
        context.fireChannelInactive()
    }

    // MARK: - In

    func read(context: ChannelHandlerContext) {
        if isBusy { isReadHeld = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isLast, request != .arriving { return }
        guard isBusy else { return pass(part, context) }
        waitingBytes += part.size
        wait(.part(part), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isBusy { wait(.error(error), context) } else { context.fireErrorCaught(error) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !waiting.isEmpty, event as? ChannelEvent == .inputClosed {
            wait(.event(event), context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func wait(_ next: Waiting, _ context: ChannelHandlerContext) {
        waiting.append(next)
        guard waiting.count > Self.mostParts || waitingBytes > Self.mostBytes else { return }
        waiting = []
        context.close(promise: nil)
    }

    private func pass(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            request = .arriving
            isAnswered = false
            isLast = head.headerFields[.connection] == "close"
        case .body: break
        case .end: request = isAnswered ? .none : .complete
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    // MARK: - Out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenSuccess { _ in self.answerIsOut(context) }
        context.write(data, promise: promise)
    }

    private func answerIsOut(_ context: ChannelHandlerContext) {
        guard request == .complete else {
            isAnswered = true
            return
        }
        request = .none
        guard context.channel.isActive else { return }
        if !waiting.isEmpty { passNext(context) }
        guard isReadHeld, !isBusy else { return }
        isReadHeld = false
        context.read()
    }

    /// Passes on the waiting parts, up to the end of the next request.
    private func passNext(_ context: ChannelHandlerContext) {
        var next = waiting[...]
        waiting = []
        waitingBytes = 0
        while request != .complete, let first = next.popFirst() {
            switch first {
            case .part(let part): pass(part, context)
            case .error(let error): context.fireErrorCaught(error)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            }
        }
        // Nothing arrives in between, because this runs in one turn of the connection's event loop.
        waiting = Array(next)
        for case .part(let part) in waiting { waitingBytes += part.size }
        context.fireChannelReadComplete()
    }
}

extension HTTPRequestPart {
    /// The approximate number of bytes.
    fileprivate var size: Int {
        switch self {
        case .head(let head):
            head.headerFields.reduce(head.path?.utf8.count ?? 0) {
                $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
            }
        case .body(let body): body.readableBytes
        case .end(let trailers):
            trailers?.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count } ?? 0
        }
    }
}
