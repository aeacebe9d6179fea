// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// The service as a child process of one program.
///
/// It serves only the user who started the program, uses that user's own directory, and exits with the program.
struct PrivateService {
    /// One end of a socket pair; the program has the other end.
    let descriptor: Int32
    /// The program's settings.
    let configuration: SystemConfiguration

    /// The reason why the socket cannot be served.
    enum Fault: Error, Equatable, CustomStringConvertible {
        /// The descriptor is not a connected Unix stream socket.
        case unsuitable
        /// The socket was created by a process of another user, with this user ID.
        case foreign(UInt32)

        var description: String {
            switch self {
            case .unsuitable:
                "--private requires a connected Unix stream socket. whorl starts this program by itself."
            case .foreign(let user): "The socket of --private belongs to another user (\(user))."
            }
        }

        /// The exit status (sysexits.h).
        var status: Int32 {
            switch self {
            case .unsuitable: 64  // EX_USAGE
            case .foreign: 77  // EX_NOPERM
            }
        }
    }

    func run() async throws {
        let user = geteuid()
        let control = try socket(of: user)
        closeOthers()
        let root = InProcessRoot(configuration)
        let services = root.services
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
        // The only user could only lock themselves out.
        limits.connectionsOfUser = limits.connections
        let server = ServiceServer(host.router(version: WhorlVersion.text), limits: limits, servesPairs: true)
        {
            count.set($0)
        }
        try server.serve(control)
        await count.waitUntilIdle {}
        await services.close()
    }

    /// Takes over the socket after checking that its other end belongs to this user.
    ///
    /// A child that runs as root has access to a reader and a directory that other users must not use.
    private func socket(of user: UInt32) throws(Fault) -> Descriptor {
        // A number that is not open belongs to no one, and is not closed here.
        guard fcntl(descriptor, F_GETFD) >= 0 else { throw .unsuitable }
        let socket = Descriptor(owning: descriptor)
        guard UnixSocket.isConnectedStream(socket),
            // The kernel names the user of each connected Unix socket; whatever the error, the socket is unsuitable.
            let peer = try? PeerUser(of: socket)
        else { throw .unsuitable }
        guard peer.uid == user else { throw .foreign(peer.uid) }
        return socket
    }

    /// Closes all descriptors that the parent program has left open, because they do not belong to this one.
    private func closeOthers() {
        for number in 3..<CInt(1024) where number != descriptor { close(number) }
    }
}
