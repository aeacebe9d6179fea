// SPDX-License-Identifier: Apache-2.0

package import WhorlCallers
internal import WhorlIPC

/// The rule for clients in a session with a locked screen.
///
/// Only root's clients are served there, because PAM modules for lockers run as root.
///
/// A locker that runs PAM as its user is not served either, because it cannot be distinguished from the user's other
/// programs.
package struct LockRule: Sendable {
    private let sessions: any LoginSessions
    private let hasEnded: @Sendable (Int32) -> Bool

    /// Creates the rule for a machine's login sessions.
    ///
    /// - Parameters:
    ///   - sessions: The login sessions.
    ///   - hasEnded: Returns whether a process has ended.
    package init(
        _ sessions: any LoginSessions,
        hasEnded: @escaping @Sendable (Int32) -> Bool = PeerProcess.hasEnded
    ) {
        self.sessions = sessions
        self.hasEnded = hasEnded
    }

    /// Returns whether a client may not make requests because the screen of its login session is locked.
    ///
    /// - Parameters:
    ///   - user: The user of the client; `nil` if the client has left the bus.
    ///   - process: The process of the client; `nil` if it is unknown.
    /// - Returns: Whether requests are refused: `true` if this cannot be determined, `false` outside any session, where
    ///   only polkit decides.
    package func refuses(user: UInt32?, process: Int32?) async -> Bool {
        guard user != 0 else { return false }
        guard user != nil, let process else { return true }
        do throws(LoginSessionsFault) {
            if let session = try await sessions.session(ofProcess: process) { return session.isLocked }
            // A child may continue to use the connection of a process that has ended, and still belongs to a session.
            return hasEnded(process)
        } catch {
            return true
        }
    }

    /// Returns the login session that ends a client's claim when it is locked.
    ///
    /// - Parameters:
    ///   - user: The user of the client; `nil` if the client has left the bus.
    ///   - process: The process of the client; `nil` if it is unknown.
    /// - Returns: The session's name; `nil` outside any session and for root's clients.
    /// - Throws: A fault if the session is unknown, because a claim that a lock could not end must not begin.
    package func session(user: UInt32?, process: Int32?) async throws(LoginSessionsFault) -> String? {
        guard let user, user != 0, let process else { return nil }
        return try await sessions.session(ofProcess: process)?.id
    }
}
