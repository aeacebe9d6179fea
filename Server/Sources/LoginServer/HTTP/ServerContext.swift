// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// What goes with a request besides itself.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address that the connection comes from; `nil` for what has none.
    let peer: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }

    var maxUploadSize: Int { RequestMembers.largestBody }
}
