// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

/// The place from which a program makes a request.
package enum CallerPlace: Sendable, Hashable {
    /// A login session of the caller's user.
    case session(LoginSession)
    /// Outside any login session, or in another user's session.
    case noSession
    /// The process has not proven its identity, or has ended.
    case unknownProcess
    /// The login manager did not respond, for this reason.
    case unknownSession(String)

    /// The login session; `nil` if there is none.
    var session: LoginSession? {
        guard case .session(let session) = self else { return nil }
        return session
    }

    /// The reason why programs at this place may not prompt at all; `nil` if they may.
    ///
    /// Regardless of the policy, a touch while the screen is locked is meant for the program that unlocks the screen.
    package var lock: ServiceError? { session?.isLocked == true ? .sessionLocked : nil }

    /// Returns the reason why programs at this place may not prompt for a finger; `nil` if they may.
    ///
    /// Root outside any session stands for the machine itself, whose services, such as a login, prompt the user at the
    /// seat. This does not apply to a program with root privileges that another user started.
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
