// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Glibc
import WhorlCallers
import WhorlFingerprint
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// The system-wide service, which serves all users.
///
/// Each has a separate profile and state folder.
struct SystemService {
    let configuration: ServiceConfiguration
    let arguments: Arguments

    func run() async throws {
        let listener = try ListeningSocket.inherited()
        if let fault = InProcessRoot.clockFault { ServiceManager.log(.warning, fault) }
        let roots = UserEngines(self)
        var host = ServiceHost(prompts: prompts, rules: Callers(seats: configuration.touch)) {
            user throws(ServiceRefusal) in
            try roots.rootForCaller(user.uid).services
        } keychain: { user, groups throws(ServiceRefusal) in
            try roots.rootForCaller(user.uid).keychain(in: groups)
        }
        host.logins = LoginAccess(
            owner: { user throws(ServiceError) in try roots.root(of: user).services },
            // An account that cannot be looked up is refused below, with the reason.
            obstacle: { user in await (try? roots.root(of: user))?.obstacleWithoutState() },
            keyring: { user throws(ServiceError) in try roots.root(of: user).loginKeyring },
            // Root's state, as for identifying one of several people.
            place: try roots.root(of: 0).loginPlace,
            unlock: { (user, asker) async throws(ServiceError) in try await roots.unlock(user, by: asker) },
            identify: { (users, request, presenter) async throws(ServiceError) in
                try await roots.identify(users, request, presenter)
            },
            enroll: { (asked, observer) async throws(ServiceError) in try await roots.enroll(asked, observer)
            },
            forget: { (user, request, presenter) async throws(ServiceError) in
                try await roots.forget(user, request, presenter)
            },
            takeOver: { (user, prints, isTrial, wereClosed) async throws(ServiceError) in
                try await roots.takeOver(prints, of: user, isTrial: isTrial, wereClosed: wereClosed)
            },
            accounts: roots
        )
        await roots.sweep()
        let count = ConnectionCount()
        var limits = ServiceServer.Limits()
        // A connection serves one call, and a closed one counts until the service has noticed that.
        limits.connectionsOfUser = 256
        let accounts = AccountRule()
        let memory = ClientMemory.ofThisService()
        let server = ServiceServer(
            host.router(version: WhorlVersion.text),
            limits: limits,
            admission: UserAdmission { accounts.refusal(of: $0) },
            memory: memory
        ) { count.set($0) }
        await EndSignals.onFirst { Task { await end(server, roots, at: .now) } }
        memory?.onExcess { Task { await beginAnew(server, roots) } }
        let place = FprintPlace(of: roots, readers: servesOverBus)
        await followSleep(roots.interruptions, host, place)
        await followSessions(host, place)
        try server.listen(on: listener)
        ServiceManager.notify("READY=1")
        place.take()
        Watchdog.begin { await roots.pulse() }
        roots.letGoIdle { server.connectionCount(of: $0) > 0 }
        // A service that was started without a client also exits.
        count.set(0)
        await count.waitUntilIdle { await wait(for: place, host.stays, memory, server) }
        // New clients wait in the socket, for which systemd starts the service again.
        server.stopListening()
        while server.connectionCount > 0 { await OffPoolTimer.waitUncancelled(.milliseconds(50)) }
        ServiceManager.notify("STOPPING=1")
        await roots.close()
    }

    /// Waits until the service has been idle for the configured time.
    ///
    /// The service is idle while no client on the bus uses a reader, no earlier match can be reused, no client holds
    /// much data that the service sent, and no descriptor is being closed.
    private func wait(
        for place: FprintPlace,
        _ stays: SessionPeriods,
        _ memory: ClientMemory?,
        _ server: ServiceServer
    ) async {
        repeat {
            guard configuration.idleSeconds > 0 else {
                while true { await OffPoolTimer.waitUncancelled(.seconds(86_400)) }
            }
            await OffPoolTimer.waitUncancelled(.seconds(configuration.idleSeconds))
        } while await !place.isFree() || stays.isHeld || memory?.isLittle == false
            || !server.usersWhoseFilesClose.isEmpty
    }

    /// Returns whether a reader is available on the bus.
    ///
    /// If the configuration names a reader, only that one is available, there and to all other programs.
    private func servesOverBus(_ reader: ReaderInfo) -> Bool {
        guard arguments.allowsVirtualReaders || reader.kind == .hardware else { return false }
        return configuration.reader.map { $0 == reader.id.rawValue } ?? true
    }

    /// The configured rules for prompts.
    private var prompts: PromptRules {
        var rules = PromptRules()
        rules.agents = configuration.agent
        rules.longestTimeout = .seconds(configuration.longestSeconds)
        return rules
    }

    /// Ends the service while it is working.
    ///
    /// Callers that wait for a prompt receive the reason, and writes in progress are completed.
    private func end(_ server: ServiceServer, _ roots: UserEngines, at begin: ContinuousClock.Instant) async {
        ServiceManager.notify("STOPPING=1")
        for user in server.usersWhoseFilesClose.sorted() {
            ServiceManager.log(
                .warning,
                "The service cannot stop while a file sent by user \(user) is being closed. Stop the program behind its file "
                    + "system: `loginctl terminate-user \(user)`."
            )
        }
        server.stopListening()
        await roots.interruptions.begin(.ending, patience: .seconds(3))
        // The answers are on their way; a client that keeps its connection open does not keep the service running.
        while server.connectionCount > 0, ContinuousClock.now - begin < .seconds(5) {
            await OffPoolTimer.waitUncancelled(.milliseconds(20))
        }
        await roots.close()
        _exit(0)
    }

    /// Ends the service because its clients hold too much memory that is charged to it.
    ///
    /// It waits at most two minutes for a moment without prompts, unless a descriptor is being closed. For the next
    /// client, systemd starts a new process, to which the memory held by clients is not charged.
    private func beginAnew(_ server: ServiceServer, _ roots: UserEngines) async {
        ServiceManager.log(
            .warning,
            "Clients hold too much of the data that the service has sent them; restarting."
        )
        let begin = ContinuousClock.now
        while !server.usersWhoseFilesClose.isEmpty
            || !roots.interruptions.isQuiet && ContinuousClock.now - begin < .seconds(120)
        {
            await OffPoolTimer.waitUncancelled(.milliseconds(100))
        }
        await end(server, roots, at: .now)
    }

    /// Starts preparing for each time the machine goes to sleep.
    ///
    /// Returns when this is set up, or after a second.
    private func followSleep(
        _ interruptions: Interruptions,
        _ host: ServiceHost,
        _ place: FprintPlace
    ) async {
        let keeper = SleepKeeper(LoginManager()) {
            host.sleep()
            place.sleep()
            await MachineReaders.letGo(interruptions)
        } resume: {
            await MachineReaders.takeBack(interruptions)
            await place.wake()
        } report: { sentence in
            ServiceManager.log(.warning, sentence)
        }
        await OffPoolTimer.wait(atMost: .seconds(1)) { begun in
            Task { await keeper.run(begun: begun) }
        }
    }
}

extension SystemService {
    /// Starts watching login sessions: when a session's screen is locked or its seat switches to another session, the
    /// prompts of its programs end.
    ///
    /// Returns when this is set up, or after a second.
    private func followSessions(_ host: ServiceHost, _ place: FprintPlace) async {
        await OffPoolTimer.wait(atMost: .seconds(1)) { begun in
            Task {
                do throws(SystemBus.Fault) {
                    let manager = LoginManager()
                    let changes = try await manager.sessionChanges()
                    begun()
                    for await change in changes {
                        switch change {
                        case .locked(let session):
                            host.lock(session)
                            await place.lock(session)
                        case .locking(let session): host.beginLocking(session)
                        case .unlocked(let session): host.unlock(session)
                        case .unlocking(let session):
                            // Without an answer, it stays locked.
                            if (try? await manager.isLocked(session)) == false { host.unlock(session) }
                        case .left(let session):
                            host.leave(session, endsCalls: configuration.touch == .activeSeatOnly)
                            await place.leave(session)
                        }
                    }
                } catch {
                    ServiceManager.log(.warning, "Cannot watch for screen locks: \(error.cause).")
                    begun()
                }
            }
        }
    }
}
