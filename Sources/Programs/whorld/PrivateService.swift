// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// The service as the child of one program: it serves the user who started it, in that user's own directory, and ends
/// with the program.
struct PrivateService {
    /// The end of a pair of sockets whose other end the program holds.
    let descriptor: Int32
    /// The choices of the program.
    let configuration: SystemConfiguration

    func run() async throws {
        let control = Descriptor(owning: descriptor)
        closeOthers()
        let root = InProcessRoot(configuration)
        let services = root.services
        let user = geteuid()
        var host = ServiceHost { peer throws(ServiceRefusal) in
            guard peer.uid == user else { throw ServiceRefusal("io.whorl.NotYours") }
            return services
        } keychain: { peer, groups throws(ServiceRefusal) in
            guard peer.uid == user else { throw ServiceRefusal("io.whorl.NotYours") }
            return root.keychain(in: groups)
        }
        host.privateEngine = root
        let count = ConnectionCount()
        var limits = ServiceServer.Limits()
        // There is one user, who could only keep himself out.
        limits.connectionsOfUser = limits.connections
        let server = ServiceServer(host.router(version: WhorlVersion.text), limits: limits, servesPairs: true)
        {
            count.set($0)
        }
        try server.serve(control)
        await count.waitUntilIdle {}
        await services.close()
    }

    /// Descriptors that the program has left open do not belong to this one.
    private func closeOthers() {
        for number in 3..<CInt(1024) where number != descriptor { close(number) }
    }
}
