// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlIPC
package import WhorlRemote
package import WhorlService
import WhorlSupport

/// The system service's rules for its callers, based on which program makes a request, from where, and with which
/// authorization.
///
/// The caller's place is determined again for each call, because sessions can end and seats can switch to another
/// session while a connection is open. The program's identity is the one at the time it connected.
package struct Callers: CallerRules {
    private let sessions: any LoginSessions
    private let authority: any ActionAuthority
    private let journal: any CallJournal
    private let seats: SeatPolicy
    private let processes: String
    private let flatpak: @Sendable () -> FlatpakInstallation?
    private let groups: @Sendable (UInt32) -> Set<UInt32>?
    private let looks = ProcessInspections()
    /// The turns of requests that may prompt someone.
    ///
    /// Only a few of each user's run at a time, because each may take minutes.
    private let questions = Turns<UInt32>(most: 2)

    /// Creates the rules.
    ///
    /// - Parameters:
    ///   - sessions: The login sessions.
    ///   - authority: The system's authorization rules for actions.
    ///   - journal: The journal that records requests and their results.
    ///   - seats: The places from which a program may prompt for a finger.
    ///   - processes: The kernel's folder of processes.
    ///   - flatpak: Returns the Flatpak programs that are installed system-wide.
    ///   - groups: Returns a user's groups; `nil` if they are unknown.
    package init(
        sessions: any LoginSessions = Logind(),
        authority: any ActionAuthority = Polkit(),
        journal: any CallJournal = JournalShares(of: SystemJournal()),
        seats: SeatPolicy = .activeSeatOnly,
        processes: String = "/proc",
        flatpak: @escaping @Sendable () -> FlatpakInstallation? = Self.systemFlatpak,
        groups: @escaping @Sendable (UInt32) -> Set<UInt32>? = ThisProcess.groups(of:)
    ) {
        self.groups = groups
        self.sessions = sessions
        self.authority = authority
        self.journal = journal
        self.seats = seats
        self.processes = processes
        self.flatpak = flatpak
    }

    package func caller(_ client: ServiceClientIdentity, relaying program: PeerProcess?) async -> Caller {
        let user = PeerUser(uid: client.user.uid, gid: client.user.gid, pid: program?.pid ?? 0)
        // The label is the process's own, because the caller passes no connection.
        let findings = program.map { ConnectionFindings(label: PeerLabel(ofProcess: $0.pid, in: processes)) }
        return await caller(
            ServiceClientIdentity(
                user: user,
                process: program,
                label: .none,
                findings: findings ?? ConnectionFindings()
            )
        )
    }

    package func caller(_ client: ServiceClientIdentity) async -> Caller {
        let seen = await look(at: client)
        let place = await place(of: client)
        let confinement = known(client, seen)
        return Caller(
            asker: asker(client, seen, confinement, place),
            fingerObstacle: place.obstacle(under: seats, isRoot: client.user.uid == 0 && seen?.starter == 0),
            seatObstacle: place.obstacle(under: .activeSeatOnly, isRoot: false),
            obstacle: place.lock,
            confinement: confinement
        )
    }

    package func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller? {
        let seen = await look(at: client)
        guard client.user.uid == 0, seen?.starter == 0, await look(at: client, \.isPolkitHelper) == true,
            await place(of: client) == .noSession, let session = await session(of: agent)
        else { return nil }
        let place = CallerPlace.session(session)
        let confinement = known(client, seen)
        return Caller(
            asker: asker(client, seen, confinement, place),
            fingerObstacle: place.obstacle(under: seats, isRoot: false),
            seatObstacle: place.obstacle(under: .activeSeatOnly, isRoot: false),
            obstacle: place.lock,
            confinement: confinement
        )
    }

    /// Returns the login session of polkit's agent; `nil` unless the process has only the rights and groups of the
    /// session's user and is not confined.
    ///
    /// The process must be checked, because any user can connect to polkit's helper and name any other user.
    private func session(of agent: PeerProcess) async -> LoginSession? {
        // If the login manager returns anything other than a session, the place is unknown.
        guard let session = (try? await sessions.session(ofProcess: agent.pid)) ?? nil else { return nil }
        let user = PeerUser(uid: session.user, gid: session.user, pid: agent.pid)
        let client = ServiceClientIdentity(user: user, process: agent, label: .none)
        let groups = groups
        let isUsers = await look(at: client) { facts in
            groups(session.user).map { facts.belongsOnly(to: session.user, in: $0) }
        }
        guard isUsers == true,
            // A program whose confinement cannot be told may be confined.
            (try? confinement(of: client, await look(at: client))) == Confinement.none
        else { return nil }
        // The result belongs to this process only if it is still running, so that its ID was not reused.
        return agent.isRunning ? session : nil
    }

    package func asker(_ client: ServiceClientIdentity) async -> Asker? {
        let seen = await look(at: client)
        return asker(client, seen, known(client, seen), nil)
    }

    private func asker(
        _ client: ServiceClientIdentity,
        _ seen: ProcessInspection?,
        _ confinement: Confinement?,
        _ place: CallerPlace?
    ) -> Asker {
        // The facts belong to the process if it is still running after they were read.
        let process = client.process.flatMap { $0.isRunning ? $0 : nil }
        return Asker(
            user: client.user.uid,
            confinedAs: confinement?.confinedAs,
            process: process == nil ? nil : seen?.name,
            processID: process?.pid,
            unit: process == nil ? nil : seen?.unit,
            session: place?.session?.id
        )
    }

    /// Returns the confinement of a caller; `nil` if it is unknown.
    ///
    /// A caller whose confinement is unknown has no name and cannot access items.
    private func known(_ client: ServiceClientIdentity, _ seen: ProcessInspection?) -> Confinement? {
        try? confinement(of: client, seen)
    }

    package func confinement(of client: ServiceClientIdentity) async throws(ServiceRefusal) -> Confinement {
        if let confined = try Self.profile(client.label) { return confined }
        return try confinement(of: client, await look(at: client))
    }

    private func confinement(
        of client: ServiceClientIdentity,
        _ seen: ProcessInspection?
    ) throws(ServiceRefusal) -> Confinement {
        if let confined = try Self.profile(client.label) { return confined }
        guard let seen, client.process?.isRunning == true else { throw .unknownProgram }
        if client.label == .none, let confined = try profile(of: client, seen.label) { return confined }
        client.findings.keep(seen.sandbox)
        return switch seen.sandbox {
        case .none: .none
        case .program(let id): .id(id)
        case .unknown: throw .unknownSandbox
        case .unreadable: throw .unknownProgram
        }
    }

    /// Returns the profile that has confined a process since it connected; `nil` if there is none.
    ///
    /// - Throws: A refusal if the process now has a different profile or none. It may have executed a program that is
    ///   not confined while its confined children still have the connection.
    private func profile(
        of client: ServiceClientIdentity,
        _ now: PeerLabel
    ) throws(ServiceRefusal) -> Confinement? {
        let (before, after) = (try Self.profile(client.findings.label), try Self.profile(now))
        guard before?.bytes == after?.bytes else { throw .changedProgram }
        return before
    }

    private static func profile(_ label: PeerLabel) throws(ServiceRefusal) -> Confinement? {
        switch label {
        case .text(let label): Confinement(label: label)
        case .unreadable: throw .unknownProgram
        case .none: nil
        }
    }

    /// Examines a caller's process once to find all facts that are needed; returns `nil` if the process is unknown.
    ///
    /// The sandbox is examined only once per connection.
    private func look(at client: ServiceClientIdentity) async -> ProcessInspection? {
        let (flatpak, known) = (flatpak, client.findings.finding(as: Sandbox.self))
        let (hasLabel, isRoot) = (client.label != .none, client.user.uid == 0)
        return await look(at: client) { facts in
            ProcessInspection(
                label: hasLabel ? .none : PeerLabel(ofProcess: facts.pid, in: facts.folder),
                sandbox: known ?? facts.sandbox(flatpak),
                name: facts.name,
                unit: facts.unit,
                starter: isRoot ? facts.realUser : nil
            )
        }
    }

    /// Examines a caller's process when it is its user's turn; returns `nil` if the process is unknown.
    private func look<Value: Sendable>(
        at client: ServiceClientIdentity,
        _ work: @escaping @Sendable (ProcessFacts) -> Value
    ) async -> Value? {
        guard let process = client.process else { return nil }
        let facts = ProcessFacts(pid: process.pid, folder: processes)
        return await looks.look(for: client.user.uid) { work(facts) }
    }

    /// Returns the Flatpak programs that are currently installed system-wide, as visible to this process.
    @Sendable package static func systemFlatpak() -> FlatpakInstallation? {
        // This process's list is as long as the machine has mounts, such as those of containers.
        guard let mounts = KernelFile("/proc/self/mountinfo", most: 16 << 20) else { return nil }
        let found = FlatpakInstallation(mounts: mounts)
        return mounts.isWhole ? found : nil
    }

    package func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError) {
        guard client.user.uid != 0 else { return }
        guard let process = client.process, let startTime = await look(at: client, \.startTime) ?? nil,
            process.isRunning
        else { throw .noProcess }
        let subject = ActionSubject(pid: process.pid, startTime: startTime, uid: client.user.uid)
        if mayAsk {
            try await questions.take(client.user.uid) { () async throws(ServiceError) in
                // The caller may have hung up while it was waiting.
                guard !Task.isCancelled, process.isRunning else { throw .noProcess }
                try await authority.authorize(action, subject, mayAsk: true)
            }
        } else {
            try await authority.authorize(action, subject, mayAsk: false)
        }
        // The answer was for this process only if it is still running.
        guard process.isRunning else { throw .noProcess }
    }

    package func record(_ record: CallRecord, of asker: Asker?) { journal.write(record, of: asker) }

    /// Returns the current place of a caller.
    private func place(of client: ServiceClientIdentity) async -> CallerPlace {
        guard let process = client.process else { return .unknownProcess }
        let found: LoginSession?
        do throws(LoginSessionsFault) {
            found = try await sessions.session(ofProcess: process.pid)
        } catch {
            return .unknownSession(error.cause)
        }
        guard process.isRunning else { return .unknownProcess }
        guard let found else { return .noSession }
        guard found.user == client.user.uid || client.user.uid == 0 else { return .noSession }
        return .session(found)
    }
}

extension Confinement {
    fileprivate var confinedAs: String? {
        guard case .id(let id) = self else { return nil }
        return id
    }

    /// The bytes of the ID.
    ///
    /// IDs are compared by bytes, because two IDs that look alike belong to different programs.
    fileprivate var bytes: [UInt8]? { confinedAs.map { Array($0.utf8) } }
}

extension ServiceRefusal {
    /// The refusal for a sandbox whose program is unknown: it cannot access any program's data.
    fileprivate static let unknownSandbox = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        message: "The service cannot identify the program in this sandbox.",
        recovery: """
            Install a Flatpak program for the whole machine (`flatpak install --system`), or use `whorl` outside of the \
            sandbox.
            """
    )

    /// The refusal for a program whose confinement has changed since it connected.
    fileprivate static let changedProgram = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        message: "The program has changed since it connected.",
        recovery: "Connect again: a connection belongs to the program that made it."
    )

    /// The refusal for a caller that could be any program: it cannot access any program's data.
    fileprivate static let unknownProgram = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        message: "The service cannot identify the calling program.",
        recovery: "Call io.whorl.Connection.Prove first."
    )
}

extension ServiceError {
    fileprivate static let noProcess = ServiceError(
        .notPermitted,
        message: "The service cannot identify the calling process.",
        recovery:
            "The program must prove its process first (io.whorl.Connection.Prove) and wait for the reply."
    )
}
