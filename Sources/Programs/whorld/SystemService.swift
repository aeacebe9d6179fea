// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import WhorlCallers
import WhorlConfiguration
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// The service of the whole system: it serves every user, each with a profile and a state folder of its own.
struct SystemService {
    let configuration: ServiceConfiguration
    let stateRoot: String
    let tpm: String?
    let allowsVirtualReaders: Bool

    func run() async throws {
        let listener = try ListeningSocket.inherited()
        let roots = RootsOfUsers(self)
        let host = ServiceHost(prompts: prompts, rules: Callers(seats: configuration.touch)) {
            user throws(ServiceRefusal) in
            roots.root(of: user.uid).services
        } keychain: { user, groups throws(ServiceRefusal) in
            roots.root(of: user.uid).keychain(in: groups)
        }
        let count = ConnectionCount()
        var limits = ServiceServer.Limits()
        // A connection serves one call, and a closed one counts until the service has seen it.
        limits.connectionsOfUser = 256
        let server = ServiceServer(host.router(version: WhorlVersion.text), limits: limits) { count.set($0) }
        try server.listen(on: listener)
        ServiceManager.notify("READY=1")
        // A start for which no client comes ends too.
        count.set(0)
        await count.waitUntilIdle { await wait() }
        // Clients that connect from now on wait in the socket, for which systemd starts the service again.
        server.stopListening()
        while server.connectionCount > 0 { await OffPoolTimer.waitUncancelled(.milliseconds(50)) }
        ServiceManager.notify("STOPPING=1")
        await roots.close()
    }

    private func wait() async {
        guard configuration.idleSeconds > 0 else {
            while true { await OffPoolTimer.waitUncancelled(.seconds(86_400)) }
        }
        await OffPoolTimer.waitUncancelled(.seconds(configuration.idleSeconds))
    }

    /// The rules of prompts that the configuration chooses.
    private var prompts: PromptRules {
        var rules = PromptRules()
        rules.agents = configuration.agent
        rules.longestTimeout = .seconds(configuration.longestSeconds)
        return rules
    }
}

/// The engines of the users who have connected, each made at the first call.
private final class RootsOfUsers: Sendable {
    private let service: SystemService
    private let roots = Mutex<[UInt32: InProcessRoot]>([:])

    init(_ service: SystemService) { self.service = service }

    /// Returns the root of a user's services, whose state lies in a folder named by the user's number.
    func root(of uid: UInt32) -> InProcessRoot {
        if let kept = roots.withLock({ $0[uid] }) { return kept }
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = "\(service.stateRoot)/\(uid)"
        configuration.profile = ThisProcess.userName(of: uid)
        configuration.reader = service.configuration.reader
        configuration.readerIsNamedIn = service.configuration.reader.map { _ in ServiceConfiguration.path }
        configuration.tpm = service.tpm
        configuration.allowsPretendedReaders = service.allowsVirtualReaders
        configuration.allowsSimulatedTPM = false
        let made = InProcessRoot(configuration)
        return roots.withLock { roots in
            if let kept = roots[uid] { return kept }
            roots[uid] = made
            return made
        }
    }

    /// Closes what the engines hold of the chip.
    func close() async {
        for root in roots.withLock({ Array($0.values) }) { await root.services.maintenance.close() }
    }
}
