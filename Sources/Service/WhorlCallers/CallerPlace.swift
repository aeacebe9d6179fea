// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

/// The place from which a program makes a request.
package enum CallerPlace: Sendable, Hashable {
    /// A login session of the caller's user.
    case session(LoginSession)
    /// No login session, or another user's.
    case noSession
    /// The process has not proven its identity, or has ended.
    case unknownProcess
    /// The login manager does not answer, for this reason.
    case unknownSession(String)

    /// The login session; `nil` without one.
    var session: LoginSession? {
        guard case .session(let session) = self else { return nil }
        return session
    }

    /// The reason why nothing may be prompted for from here; `nil` if something may.
    ///
    /// A touch in front of a locked screen is meant for the program that unlocks it, whatever the policy is.
    package var lock: ServiceError? { session?.isLocked == true ? .sessionLocked : nil }

    /// Returns the reason why a finger may not be prompted for from here; `nil` if it may.
    ///
    /// Root outside any session represents the machine itself: its services, such as a login, prompt the user at the
    /// seat. This does not apply to a program with root's rights that another user started.
    package func obstacle(under policy: SeatPolicy, isRoot: Bool) -> ServiceError? {
        guard policy != .any else { return nil }
        switch self {
        case .session(let session): return session.obstacle(under: policy)
        case .noSession:
            return isRoot
                ? nil
                : .noTouch(
                    "The program does not run in a login session.",
                    "Run it in a session on this computer, or use the passcode."
                )
        case .unknownProcess:
            return .noTouch(
                "The service cannot identify the process and its session.",
                "The program must prove its process first (io.whorl.Connection.Prove), or use the passcode."
            )
        case .unknownSession(let cause):
            return .noTouch(
                "logind could not identify the session this program runs in.",
                "Check systemd-logind: `systemctl status systemd-logind`.",
                cause
            )
        }
    }
}

extension LoginSession {
    fileprivate func obstacle(under policy: SeatPolicy) -> ServiceError? {
        let other = "Try again in a session on this computer, or use the passcode."
        if isRemote {
            return .noTouch(
                "This is a remote session; the fingerprint reader is at this computer.",
                other
            )
        }
        guard policy == .activeSeatOnly else { return nil }
        guard seat != nil else {
            return .noTouch(
                "This session is not on a seat of this computer, where the fingerprint reader is.",
                other
            )
        }
        guard isActive else {
            return .noTouch(
                "Another session is active on this seat.",
                "Switch to this session first, or use the passcode."
            )
        }
        return nil
    }
}

extension ServiceError {
    fileprivate static func noTouch(_ message: String, _ recovery: String, _ cause: String = "")
        -> ServiceError
    {
        ServiceError(.notInteractive, message: message, recovery: recovery, cause: cause)
    }
}
