// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Foundation
package import WhorlIPC
internal import WhorlRemote
package import WhorlService
internal import WhorlFingerprint

extension ContextParts {
    /// The same environment, with a socket between the program and its services if `WHORL_FACES` is `socket`.
    ///
    /// The owner, the items and the keychain are then asked over the service's wire, by its own client and host, so that
    /// each test of Apple's names passes in process and over the wire. Both ends are in this process.
    package var asTested: ContextParts {
        ProcessInfo.processInfo.environment["WHORL_FACES"] == "socket" ? overSocket : self
    }

    private var overSocket: ContextParts {
        let host = ServiceHost(
            services: { [hosted] _ throws(ServiceRefusal) in hosted },
            keychain: { [keychain] _, groups throws(ServiceRefusal) in
                precondition(groups == keychain.groups, "the program's groups are those of its rows")
                return (keychain as? any KeychainPages) ?? SearchedAgain(rows: keychain)
            }
        )
        var limits = ServiceServer.Limits()
        limits.connectionsOfUser = limits.connections
        let server = ServiceServer(host.router(version: "test"), limits: limits)
        let remote = Services.remote(
            profile: hosted.profile,
            application: application,
            accessGroups: Array(keychain.groups.dropFirst()),
            over: HostTransport(server: server)
        )
        return ContextParts(
            asker: remote,
            presenter: presenter,
            application: application,
            keychain: remote.keychain,
            hasChip: hasChip,
            changeMark: changeMark,
            readerEvents: readerEvents
        )
    }

    /// The services behind the socket; a program of Apple's names asks for no others.
    private var hosted: Services {
        Services(
            profile: "ada",
            application: application,
            asker: asker,
            keychain: keychain,
            readers: MachineWithoutReaders()
        )
    }
}

/// The readers of a machine that has none.
private struct MachineWithoutReaders: ReaderService {
    func readers() async throws(ServiceError) -> [any FingerprintReader] { [] }

    func chosenReader() async throws(ServiceError) -> any FingerprintReader {
        throw ServiceError(.biometryNotAvailable)
    }

    var readerLockTrouble: ReaderError? { nil }

    func readerEvents() async -> AsyncStream<Void> { AsyncStream { _ in } }
}

/// Connects to a service of this process.
package struct HostTransport: ServiceTransport {
    package let server: ServiceServer

    package init(server: ServiceServer) { self.server = server }

    package func connect() throws(SystemCallError) -> Descriptor {
        let (own, other) = try UnixSocket.pair()
        try server.serve(other)
        return own
    }
}
