// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Refuses an HTTP/1.1 request without a Host field, and any request with two (RFC 9112, 3.2), because a proxy may use
/// another one than the server.
final class HostCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data) {
            let hosts = head.headers[canonicalForm: "host"].count
            guard hosts == 1 || (hosts == 0 && head.version == .http1_0) else {
                isRefused = true
                // Hummingbird responds with 400 and closes the connection.
                context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
                return
            }
        }
        context.fireChannelRead(data)
    }
}

/// Inserts the check before the conversion to Hummingbird's types, where the version and all fields of a request are
/// still available.
final class HostCheckInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let conversion = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HostCheck(), position: .before(conversion))
        } catch {
            // A server that cannot check accepts no requests.
            context.close(promise: nil)
        }
    }
}
