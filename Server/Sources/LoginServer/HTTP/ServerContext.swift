// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// The context of a request.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the client's connection; `nil` if it has none.
    let peer: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }

    var maxUploadSize: Int { RequestMembers.largestBody }
}
