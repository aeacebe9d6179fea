// SPDX-License-Identifier: Apache-2.0

/// A login session, as the machine's login manager knows it.
package struct LoginSession: Sendable, Hashable {
    /// The session's name, such as `2`.
    package var id: String
    /// The user who logged in.
    package var user: UInt32
    /// The seat, such as `seat0`; `nil` for a session without one, as over a network.
    package var seat: String?
    /// Whether the session is the one that its seat shows now; a session without a seat counts as active.
    package var isActive: Bool
    /// Whether the person is at another machine.
    package var isRemote: Bool
    /// The class, such as `user` or `greeter`.
    package var role: String
    /// The type, such as `tty` or `wayland`.
    package var type: String

    package init(
        id: String,
        user: UInt32,
        seat: String? = nil,
        isActive: Bool = true,
        isRemote: Bool = false,
        role: String = "user",
        type: String = "tty"
    ) {
        self.id = id
        self.user = user
        self.seat = seat
        self.isActive = isActive
        self.isRemote = isRemote
        self.role = role
        self.type = type
    }
}

/// The login sessions of a machine.
package protocol LoginSessions: Sendable {
    /// Returns the session of a process; `nil` if it belongs to none.
    ///
    /// A process of a user's own service manager counts as of that user's session at the screen, as for polkit.
    ///
    /// - Throws: the reason for which nothing is known.
    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession?
}

/// The reason for which the login manager says nothing about a session.
package struct LoginSessionsFault: Error, Sendable, Hashable {
    /// The cause in the words of the system.
    package let cause: String

    package init(_ cause: String) { self.cause = cause }
}
