// SPDX-License-Identifier: Apache-2.0

package import WhorlGLib

/// A login session, as described by the machine's login manager.
package struct LoginSession: Sendable, Hashable {
    /// The session's ID, such as `2`.
    package var id: String
    /// The user who logged in.
    package var user: UInt32
    /// The seat, such as `seat0`; `nil` for a session without a seat, such as one over a network.
    package var seat: String?
    /// Whether the session is the active one on its seat; a session without a seat counts as active.
    package var isActive: Bool
    /// Whether the user is at another machine.
    package var isRemote: Bool
    /// The session's class, such as `user` or `greeter`.
    package var role: String
    /// The session's type, such as `tty` or `wayland`.
    package var type: String
    /// Whether the session's screen locker reports that the screen is locked.
    package var isLocked: Bool

    package init(
        id: String,
        user: UInt32,
        seat: String? = nil,
        isActive: Bool = true,
        isRemote: Bool = false,
        role: String = "user",
        type: String = "tty",
        isLocked: Bool = false
    ) {
        self.id = id
        self.user = user
        self.seat = seat
        self.isActive = isActive
        self.isRemote = isRemote
        self.role = role
        self.type = type
        self.isLocked = isLocked
    }
}

/// The login sessions of a machine.
package protocol LoginSessions: Sendable {
    /// Returns the session of a process; `nil` if the process does not belong to one.
    ///
    /// As in polkit, a process started by a user's service manager belongs to that user's graphical session.
    ///
    /// - Throws: A fault if the session is unknown.
    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession?
}

/// The reason why the login manager did not provide information about a session.
package struct LoginSessionsFault: Error, Sendable, Hashable {
    /// The cause, as reported by the system.
    package let cause: String

    package init(_ cause: String) { self.cause = cause }
}

/// The login sessions of systemd-logind, queried over the system D-Bus (org.freedesktop.login1(5)).
package struct Logind: LoginSessions {
    private static let name = "org.freedesktop.login1"
    private static let manager = SystemBus.Target(name, "/org/freedesktop/login1")

    private let bus: SystemBus

    package init(bus: SystemBus = .shared) { self.bus = bus }

    package func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession? {
        let ofProcess = try await path("GetSessionByPID", pid, without: "NoSessionForPID")
        let path: String?
        if let ofProcess { path = ofProcess } else { path = try await displaySession(pid) }
        guard let path else { return nil }
        // A session that has ended in the meantime counts as none.
        return try await properties("Session", path).flatMap(LoginSession.init)
    }

    /// Returns the graphical session of the user whose slice contains a process.
    private func displaySession(_ pid: Int32) async throws(LoginSessionsFault) -> String? {
        // The login manager itself decides by this name; system services, such as a greeter, skip the query.
        guard ProcessFacts(pid: pid).mayBeInUserSlice,
            let user = try await path("GetUserByPID", pid, without: "NoUserForPID"),
            let display = try await properties("User", user)?["Display"],
            let id = display[0]?.text, !id.isEmpty
        else { return nil }
        return display[1]?.text
    }

    private func path(
        _ method: String,
        _ pid: Int32,
        without none: String
    ) async throws(LoginSessionsFault) -> String? {
        do throws(SystemBus.Fault) {
            let answer = try await bus.call(
                "\(Self.name).Manager.\(method)",
                of: Self.manager,
                "(uint32 \(pid),)"
            )
            return answer[0]?.text
        } catch {
            guard error.name == "\(Self.name).\(none)" else { throw LoginSessionsFault(error.cause) }
            return nil
        }
    }

    private func properties(_ interface: String, _ path: String) async throws(LoginSessionsFault) -> BusValue?
    {
        do throws(SystemBus.Fault) {
            return try await bus.call(
                "org.freedesktop.DBus.Properties.GetAll",
                of: SystemBus.Target(Self.name, path),
                "('\(Self.name).\(interface)',)"
            )[0]
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.UnknownObject" else {
                throw LoginSessionsFault(error.cause)
            }
            return nil
        }
    }
}

extension LoginSession {
    /// Creates a session from its properties; returns `nil` if one is missing.
    init?(_ properties: BusValue) {
        guard let id = properties["Id"]?.text, let user = properties["User"]?[0]?.number,
            let number = UInt32(exactly: user), let isActive = properties["Active"]?.flag,
            let isRemote = properties["Remote"]?.flag, let role = properties["Class"]?.text,
            let type = properties["Type"]?.text, let isLocked = properties["LockedHint"]?.flag,
            let seat = properties["Seat"]?[0]?.text
        else { return nil }
        self.init(
            id: id,
            user: number,
            seat: seat.isEmpty ? nil : seat,
            isActive: isActive,
            isRemote: isRemote,
            role: role,
            type: type,
            isLocked: isLocked
        )
    }
}
