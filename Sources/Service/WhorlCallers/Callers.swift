// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlIPC
package import WhorlRemote
package import WhorlService

/// The rules of the system's service for its callers: which program asks, from where, and what the system's
/// administration allows it.
///
/// Nothing is kept from call to call: sessions end, and seats change hands, while a connection lasts.
package struct Callers: CallerRules {
    private let sessions: any LoginSessions
    private let authority: any ActionAuthority
    private let journal: any CallJournal
    private let seats: SeatPolicy
    private let processes: String
    private let flatpak: @Sendable () -> FlatpakInstallation?

    /// Makes the rules.
    ///
    /// - Parameters:
    ///   - sessions: The login sessions.
    ///   - authority: The system's rules for actions.
    ///   - journal: Takes what was asked, and how it ended.
    ///   - seats: The places from which a finger may be asked for.
    ///   - processes: The kernel's folder of processes.
    ///   - flatpak: Returns the Flatpak programs that are installed for the whole machine.
    package init(
        sessions: any LoginSessions = Logind(),
        authority: any ActionAuthority = Polkit(),
        journal: any CallJournal = JournalShares(of: SystemJournal()),
        seats: SeatPolicy = .activeSeatOnly,
        processes: String = "/proc",
        flatpak: @escaping @Sendable () -> FlatpakInstallation? = Self.systemFlatpak
    ) {
        self.sessions = sessions
        self.authority = authority
        self.journal = journal
        self.seats = seats
        self.processes = processes
        self.flatpak = flatpak
    }

    package func caller(_ client: ServiceClientIdentity) async -> Caller {
        // A caller of whom that cannot be told has no name; what is an item's is refused to it.
        let confinement = try? self.confinement(of: client)
        let facts = client.process.map { ProcessFacts(pid: $0.pid, folder: processes) }
        let (name, unit, starter) = (facts?.name, facts?.unit, facts?.realUser)
        let place = await place(of: client)
        // The facts are the process's own if it runs after they were read.
        let process = client.process.flatMap { $0.isRunning ? $0 : nil }
        let asker = Asker(
            user: client.user.uid,
            confinedAs: confinement?.confinedAs,
            process: process == nil ? nil : name,
            processID: process?.pid,
            unit: process == nil ? nil : unit,
            session: place.session?.id
        )
        return Caller(
            asker: asker,
            fingerObstacle: place.obstacle(under: seats, isRoot: client.user.uid == 0 && starter == 0),
            obstacle: place.lock,
            confinement: confinement
        )
    }

    package func confinement(of client: ServiceClientIdentity) throws(ServiceRefusal) -> Confinement {
        switch client.label {
        case .text(let label): if let confined = Confinement(label: label) { return confined }
        case .unreadable: throw .unknownProgram
        case .none: break
        }
        guard let process = client.process else { throw .unknownProgram }
        let facts = ProcessFacts(pid: process.pid, folder: processes)
        let (label, mounts) = (client.label == .none ? facts.label : .none, facts.mounts)
        let isInNamespace = facts.isInNamespace
        guard process.isRunning else { throw .unknownProgram }
        switch label {
        case .text(let label):
            let line = label.last == "\n" ? String(label.dropLast()) : label
            if let confined = Confinement(label: line) { return confined }
        case .unreadable: throw .unknownProgram
        case .none: break
        }
        guard case .text(let text) = mounts, let isInNamespace else { throw .unknownProgram }
        guard let found = Confinement(mounts: text, of: flatpak()), found != .none || !isInNamespace else {
            throw .unknownSandbox
        }
        return found
    }

    /// Returns the Flatpak programs that are installed for the whole machine, as this process sees them now.
    @Sendable package static func systemFlatpak() -> FlatpakInstallation? {
        guard case .text(let mounts) = ProcessFacts(pid: getpid()).mounts else { return nil }
        return FlatpakInstallation(mounts: mounts)
    }

    package func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(AuthenticationError) {
        guard client.user.uid != 0 else { return }
        guard let process = client.process,
            let startTime = ProcessFacts(pid: process.pid, folder: processes).startTime, process.isRunning
        else { throw .noProcess }
        let subject = ActionSubject(pid: process.pid, startTime: startTime, uid: client.user.uid)
        try await authority.authorize(action, subject, mayAsk: mayAsk)
        // The answer was for this process only if the number still means it.
        guard process.isRunning else { throw .noProcess }
    }

    package func record(_ record: CallRecord, of caller: Caller) { journal.write(record, of: caller) }

    /// Returns the place of a caller now.
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
}

extension ServiceRefusal {
    /// The refusal of what belongs to one program to a sandbox whose program the service cannot tell.
    fileprivate static let unknownSandbox = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        [
            "message": "The service cannot tell which program runs in this sandbox.",
            "recovery": """
            Install a Flatpak program for the whole machine (`flatpak install --system`), or use `whorl` outside of the \
            sandbox.
            """,
        ]
    )

    /// The refusal of what belongs to one program to a caller that may be any of them.
    fileprivate static let unknownProgram = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        [
            "message": "The service cannot tell which program asks.",
            "recovery": "Call io.whorl.Connection.Prove first.",
        ]
    )
}

extension AuthenticationError {
    fileprivate static let noProcess = AuthenticationError(
        .notInteractive,
        message: "The service cannot tell which process asks.",
        recovery:
            "Let the program prove its process first (io.whorl.Connection.Prove), and run until the answer."
    )
}
