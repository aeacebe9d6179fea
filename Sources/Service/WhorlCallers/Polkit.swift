// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
package import WhorlRemote
package import WhorlService

/// A process that requests authorization for an action.
package struct ActionSubject: Sendable, Hashable {
    /// The process ID, which the caller has verified.
    package let pid: Int32
    /// The time when the process was started, which distinguishes it from a later process with the same ID.
    package let startTime: UInt64
    /// The user who makes the request.
    package let uid: UInt32
}

/// The system's authorization rules for actions.
package protocol ActionAuthority: Sendable {
    /// Checks that the rules allow an action; throws if they do not.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - subject: The process that requests it.
    ///   - mayAsk: Whether the user may be prompted for a password.
    /// - Throws: `notPermitted` with the reason if the action is not allowed.
    func authorize(
        _ action: GuardedAction,
        _ subject: ActionSubject,
        mayAsk: Bool
    ) async throws(ServiceError)
}

/// polkit's authorization rules, queried over the system D-Bus.
package struct Polkit: ActionAuthority {
    /// The maximum time for the user to enter a password, in seconds.
    private static let patience: Int32 = 300
    private static let authority = SystemBus.Target(
        "org.freedesktop.PolicyKit1",
        "/org/freedesktop/PolicyKit1/Authority"
    )

    package init() {}

    package func authorize(
        _ action: GuardedAction,
        _ subject: ActionSubject,
        mayAsk: Bool
    ) async throws(ServiceError) {
        let process =
            "('unix-process', {'pid': <uint32 \(subject.pid)>, 'start-time': <uint64 \(subject.startTime)>, "
            + "'uid': <int32 \(Int32(bitPattern: subject.uid))>})"
        let answer: BusValue
        do throws(SystemBus.Fault) {
            answer = try await (mayAsk ? SystemBus.asking : .shared).call(
                "org.freedesktop.PolicyKit1.Authority.CheckAuthorization",
                of: Self.authority,
                "(\(process), '\(action.rawValue)', @a{ss} {}, uint32 \(mayAsk ? 1 : 0), '')",
                within: Self.patience
            )
        } catch {
            throw .notAnswered(action, error.cause)
        }
        guard answer[0]?[0]?.flag == true else {
            throw .notAllowed(action, needsPassword: answer[0]?[1]?.flag == true)
        }
    }
}

extension ServiceError {
    private static let otherWay =
        "Start an authentication agent in this session (`pkttyagent --process $$` in another terminal), or ask an "
        + "administrator for a rule that allows it (polkit(8))."

    fileprivate static func notAnswered(_ action: GuardedAction, _ cause: String) -> ServiceError {
        ServiceError(
            .notPermitted,
            message: "Cannot ask polkit whether \(action.rawValue) is allowed.",
            recovery: "Install polkit, or check it: `systemctl status polkit`.",
            cause: cause
        )
    }

    fileprivate static func notAllowed(_ action: GuardedAction, needsPassword: Bool) -> ServiceError {
        ServiceError(
            .notPermitted,
            message: needsPassword
                ? "\(action.rawValue) requires a password, but no authentication agent is running."
                : "The system's rules (polkit) do not allow \(action.rawValue).",
            recovery: otherWay,
            cause: "polkit"
        )
    }
}
