// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService

/// Provides what a service knows about the programs that call it, and its rules for them.
///
/// The connected user determines the rights to fingers and items (``ServiceHost``); these rules can only restrict them.
package protocol CallerRules: Sendable {
    /// Returns what the service currently knows about a caller.
    func caller(_ client: ServiceClientIdentity) async -> Caller

    /// Returns a caller that makes a request on behalf of another process, as polkit's helper does for an agent.
    ///
    /// The result has the place of the other process.
    ///
    /// - Parameters:
    ///   - client: The caller.
    ///   - agent: The process that the caller passed with the call.
    /// - Returns: The caller; `nil` if it may not be polkit's helper, or if the user and place of the process are
    ///   uncertain. The caller then has only its own place.
    func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller?

    /// Returns the program that a caller passes a request on for, as an SSH agent does for its client.
    ///
    /// - Parameters:
    ///   - client: The caller, whose user is also the user of the result.
    ///   - program: The process that the caller passed with the call; `nil` if it passed none that is running.
    /// - Returns: The program, with its own place and confinement.
    func caller(_ client: ServiceClientIdentity, relaying program: PeerProcess?) async -> Caller

    /// Returns the requesting program; `nil` if the service does not examine programs. The result does not include the
    /// session, which takes long to determine.
    func asker(_ client: ServiceClientIdentity) async -> Asker?

    /// Returns a caller's confinement.
    ///
    /// - Throws: A refusal if the confinement is unknown, so that a confined program is never mistaken for another one.
    func confinement(of client: ServiceClientIdentity) async throws(ServiceRefusal) -> Confinement

    /// Checks that the system's administrator allows a caller to perform an action; throws if not.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - client: The caller.
    ///   - mayAsk: Whether the user may be prompted for a password.
    /// - Throws: `notPermitted` with the reason if the action is not allowed.
    func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError)

    /// Records a call that could prompt the owner, after it has ended.
    func record(_ record: CallRecord, of asker: Asker?)
}

/// A caller, as a service's rules see it.
package struct Caller: Sendable {
    /// The requesting program; `nil` if the service does not examine programs.
    package var asker: Asker?
    /// The reason why programs at the caller's place may not prompt for a finger; `nil` if they may.
    package var fingerObstacle: ServiceError?
    /// The reason why the caller does not run in the active session at one of this machine's seats; `nil` if it does,
    /// whatever the policy is.
    package var seatObstacle: ServiceError?
    /// The reason why nothing may be prompted for at the caller's place; `nil` if something may.
    package var obstacle: ServiceError?
    /// The program's confinement; `nil` if it is unknown.
    package var confinement: Confinement?

    package init(
        asker: Asker? = nil,
        fingerObstacle: ServiceError? = nil,
        seatObstacle: ServiceError? = nil,
        obstacle: ServiceError? = nil,
        confinement: Confinement? = Confinement.none
    ) {
        self.asker = asker
        self.fingerObstacle = fingerObstacle
        self.seatObstacle = seatObstacle
        self.obstacle = obstacle
        self.confinement = confinement
    }

    /// Returns the name of the program.
    ///
    /// The name of a confined program is its ID, regardless of what it claims.
    func application(_ named: ApplicationID) -> ApplicationID {
        confinement?.application(named) ?? ApplicationID(rawValue: "")
    }
}

/// An action that could change who the owner is while the owner cannot be recognized.
package enum GuardedAction: String, Sendable, CaseIterable {
    /// Enrolling the first finger while no passcode is set.
    case enroll = "io.whorl.enroll"
    /// Enrolling the first finger of another user.
    case enrollOthers = "io.whorl.enroll-others"
    /// Setting the first passcode while no finger is enrolled.
    case setPasscode = "io.whorl.set-passcode"
    /// Deleting all items of the user.
    case reset = "io.whorl.reset"
    /// Ending the lockout of any user's fingers.
    case unlock = "io.whorl.unlock"
}

/// Rules that give all of a user's programs the same rights, for a service that serves a single program.
package struct UniformCallerRules: CallerRules {
    package init() {}
    package func caller(_ client: ServiceClientIdentity) async -> Caller { Caller() }
    package func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller? {
        nil
    }
    package func caller(_ client: ServiceClientIdentity, relaying program: PeerProcess?) async -> Caller {
        Caller()
    }
    package func asker(_ client: ServiceClientIdentity) async -> Asker? { nil }
    package func confinement(of client: ServiceClientIdentity) async throws(ServiceRefusal) -> Confinement {
        .none
    }
    package func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError) {}
    package func record(_ record: CallRecord, of asker: Asker?) {}
}

extension ServiceHost {
    /// Checks that the system's rules allow an action; throws if not.
    ///
    /// The user may be prompted for a password.
    func authorize(_ action: GuardedAction, _ call: ServiceCall) async throws(ServiceRefusal) {
        try await refusing(await rules.authorize(action, call.client, mayAsk: true))
    }

    /// Returns the caller; throws if programs at its place may not prompt, for example in a locked session.
    func callerOutsideLock(_ call: ServiceCall) async throws(ServiceRefusal) -> Caller {
        let caller = await rules.caller(call.client)
        if let obstacle = caller.obstacle { throw obstacle.refusal }
        return caller
    }
}

/// The places from which programs may prompt for a finger.
///
/// The reader is attached to this machine, so the user must be at the machine as well.
package enum SeatPolicy: String, Sendable, Hashable, CaseIterable {
    /// The session that is currently active on one of the machine's seats.
    case activeSeatOnly = "active-seat"
    /// Any login session on this machine, including those without a seat.
    case localOnly = "local"
    /// Any place.
    case any = "any"
}
