// SPDX-License-Identifier: Apache-2.0

package import WhorlContext
internal import Foundation
package import WhorlIPC
internal import WhorlRemote
internal import WhorlService
internal import WhorlSystem

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
            owner: remote.owner,
            items: remote.items,
            presenter: presenter,
            application: application,
            keychain: remote.keychain,
            hasChip: hasChip,
            changeMark: changeMark,
            readerEvents: readerEvents
        )
    }

    /// The services behind the socket; those that no program of Apple's names asks are a machine's without a chip.
    private var hosted: Services {
        let rest = InProcessRoot(
            SystemConfiguration(environment: [
                "WHORL_STATE_DIR": "/nonexistent", "WHORL_PROFILE": "ada", "WHORL_READER": "mock:",
                "WHORL_TCTI": "none",
            ])
        ).services
        return Services(
            profile: rest.profile,
            application: application,
            owner: owner,
            items: items,
            namedItems: rest.namedItems,
            keychain: keychain,
            fingers: rest.fingers,
            passcode: rest.passcode,
            keyring: rest.keyring,
            readers: rest.readers,
            maintenance: rest.maintenance
        )
    }
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
