// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService

/// A service's knowledge about the programs that call it, and its rules for them.
///
/// Rights to a user's fingers and items follow from the connected user (``ServiceHost``); these rules can only remove
/// rights.
package protocol CallerRules: Sendable {
    /// Returns the current knowledge about a caller.
    func caller(_ client: ServiceClientIdentity) async -> Caller

    /// Returns a caller that makes a request on behalf of another process, as polkit's helper does for its agent.
    ///
    /// The place of the result is that of the other process.
    ///
    /// - Parameters:
    ///   - client: The caller.
    ///   - agent: The process that the caller has passed.
    /// - Returns: `nil` if it is not certain that the caller is polkit's helper, or which user and place the process
    ///   belongs to. The caller's place is then its own.
    func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller?

    /// Returns the requesting program, without its session, which takes long to find; `nil` if the service does not
    /// look.
    func asker(_ client: ServiceClientIdentity) async -> Asker?

    /// Returns whether a caller is confined, and as which program.
    ///
    /// - Throws: A refusal if this is unknown, so that a confined program is never mistaken for another one.
    func confinement(of client: ServiceClientIdentity) async throws(ServiceRefusal) -> Confinement

    /// Returns only if the system's administration allows an action to a caller.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - client: The caller.
    ///   - mayAsk: Whether the user may be prompted for a password.
    /// - Throws: `notPermitted`, with the reason.
    func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError)

    /// Records a call that could prompt the owner, after it has ended.
    func record(_ record: CallRecord, of asker: Asker?)
}

/// A caller, from the point of view of a service's rules.
package struct Caller: Sendable {
    /// The requesting program; `nil` if the service does not look.
    package var asker: Asker?
    /// The reason why a finger may not be prompted for at the caller's place; `nil` if it may.
    package var fingerObstacle: ServiceError?
    /// The reason why the caller does not run in the active session at one of this machine's seats; `nil` if it does,
    /// whatever the policy is.
    package var seatObstacle: ServiceError?
    /// The reason why nothing may be prompted for at the caller's place; `nil` if something may.
    package var obstacle: ServiceError?
    /// Whether the program is confined; `nil` if unknown.
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

    /// Returns the name of the program: for a confined one, this is its ID, whatever it claims.
    func application(_ named: ApplicationID) -> ApplicationID {
        confinement?.application(named) ?? ApplicationID(rawValue: "")
    }
}

/// An action that changes who the owner is, for a user whose owner cannot be recognized yet.
package enum GuardedAction: String, Sendable, CaseIterable {
    /// Enrolling the first finger while no passcode is set.
    case enroll = "io.whorl.enroll"
    /// Setting the first passcode while no finger is enrolled.
    case setPasscode = "io.whorl.set-passcode"
    /// Deleting all items of the user.
    case reset = "io.whorl.reset"
    /// Lifting the lock on the fingers of any user.
    case unlock = "io.whorl.unlock"
}

/// Rules that give all programs of a user the same rights, as in a service for a single program.
package struct UniformCallerRules: CallerRules {
    package init() {}
    package func caller(_ client: ServiceClientIdentity) async -> Caller { Caller() }
    package func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller? {
        nil
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
    /// Returns only if the system's rules allow an action, for which the user may be prompted.
    func authorize(_ action: GuardedAction, _ call: ServiceCall) async throws(ServiceRefusal) {
        try await refusing(await rules.authorize(action, call.client, mayAsk: true))
    }

    /// Returns the caller, unless nothing may be prompted for at its place, such as in a locked session.
    func callerOutsideLock(_ call: ServiceCall) async throws(ServiceRefusal) -> Caller {
        let caller = await rules.caller(call.client)
        if let obstacle = caller.obstacle { throw obstacle.refusal }
        return caller
    }
}

/// The places that may prompt for a finger: the reader is attached to one machine, and so the user must be there.
package enum SeatPolicy: String, Sendable, Hashable, CaseIterable {
    /// The session that is currently active at one of the machine's seats.
    case activeSeatOnly = "active-seat"
    /// Any login session on this machine, including those without a seat.
    case localOnly = "local"
    /// Any place.
    case any = "any"
}
