// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService

/// The knowledge of a service about the programs that call it, and its rules for them.
///
/// Rights to a user's fingers and items follow the user who connected (``ServiceHost``); these rules only take away.
package protocol CallerRules: Sendable {
    /// Returns what is known of a caller at this moment.
    func caller(_ client: ServiceClientIdentity) async -> Caller

    /// Returns a caller that asks for a person at another process, as polkit's helper does for the person at its agent: the
    /// place is that process's.
    ///
    /// - Parameters:
    ///   - client: The caller.
    ///   - agent: The process that the caller has passed.
    /// - Returns: `nil` where it is not certain that the caller is polkit's helper, or whose and where the process is. The caller's
    ///   place is then its own.
    func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller?

    /// Returns the program that asks, without its session, which takes long to find; `nil` where the service does not look.
    func asker(_ client: ServiceClientIdentity) async -> Asker?

    /// Returns whether a caller is confined, and as which program.
    ///
    /// - Throws: a refusal where that cannot be told, so that a confined program is never taken for another one.
    func confinement(of client: ServiceClientIdentity) async throws(ServiceRefusal) -> Confinement

    /// Returns only if the system's administration allows an action to a caller.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - client: The caller.
    ///   - mayAsk: Whether a person may be asked for a password.
    /// - Throws: `notPermitted`, with the reason.
    func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError)

    /// Takes note of a call during which the owner could be asked, when it has ended.
    func record(_ record: CallRecord, of asker: Asker?)
}

/// A caller as the rules of a service see it.
package struct Caller: Sendable {
    /// The program that asks; `nil` where the service does not look.
    package var asker: Asker?
    /// The reason why the caller's place lets no finger be asked for; `nil` where one may be.
    package var fingerObstacle: ServiceError?
    /// The reason why the caller's place lets nothing be asked for at all; `nil` where something may be.
    package var obstacle: ServiceError?
    /// Whether the program is confined; `nil` where that cannot be told.
    package var confinement: Confinement?

    package init(
        asker: Asker? = nil,
        fingerObstacle: ServiceError? = nil,
        obstacle: ServiceError? = nil,
        confinement: Confinement? = Confinement.none
    ) {
        self.asker = asker
        self.fingerObstacle = fingerObstacle
        self.obstacle = obstacle
        self.confinement = confinement
    }

    /// Returns the name of the program: a confined one has its id, whatever it says.
    func application(_ named: ApplicationID) -> ApplicationID {
        confinement?.application(named) ?? ApplicationID(rawValue: "")
    }
}

/// An action that changes who the owner is, where nothing yet says who that is.
package enum GuardedAction: String, Sendable, CaseIterable {
    /// Enrolling the first finger, where no passcode is set.
    case enroll = "io.whorl.enroll"
    /// Setting the first passcode, where no finger is enrolled.
    case setPasscode = "io.whorl.set-passcode"
    /// Deleting all items of the user.
    case reset = "io.whorl.reset"
    /// Lifting the lock on the fingers of any user.
    case unlock = "io.whorl.unlock"
}

/// Rules under which all programs of a user may the same, as in a service of one program alone.
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
    /// Returns only if the system's rules allow an action, about which the person may be asked.
    func authorize(_ action: GuardedAction, _ call: ServiceCall) async throws(ServiceRefusal) {
        try await refusing(await rules.authorize(action, call.client, mayAsk: true))
    }

    /// Returns the caller, unless nothing may be asked for in its place, as in a locked session.
    func callerOutsideLock(_ call: ServiceCall) async throws(ServiceRefusal) -> Caller {
        let caller = await rules.caller(call.client)
        if let obstacle = caller.obstacle { throw obstacle.refusal }
        return caller
    }
}

/// The places from which a finger may be asked for: the reader is at one machine, and so is the person who touches it.
package enum SeatPolicy: String, Sendable, Hashable, CaseIterable {
    /// The session that is shown at one of the machine's seats now.
    case activeSeatOnly = "active-seat"
    /// Any login session of this machine, also without a seat.
    case localOnly = "local"
    /// Any place.
    case any = "any"
}
