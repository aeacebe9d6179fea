// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Refuses a request of HTTP/1.1 without a Host field, and one of any version with two (RFC 9112, 3.2): a proxy in front may
/// read another host than the server.
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
                // Hummingbird answers 400 and closes the connection.
                context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
                return
            }
        }
        context.fireChannelRead(data)
    }
}

/// Puts the check where the version and all fields of a request are still to be seen: before the conversion to the types that
/// Hummingbird takes.
final class HostCheckInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let conversion = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(HostCheck(), position: .before(conversion))
        } catch {
            // A server that cannot check takes no requests.
            context.close(promise: nil)
        }
    }
}
