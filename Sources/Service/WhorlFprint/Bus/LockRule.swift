// SPDX-License-Identifier: Apache-2.0

package import WhorlCallers

/// The rule for clients behind a locked screen: root's alone are served there, since PAM's modules for lockers run as root.
///
/// A locker that runs PAM as its user cannot be told from the user's other programs, and is not served either.
package struct LockRule: Sendable {
    private let sessions: any LoginSessions

    /// Makes the rule for the login sessions of a machine.
    package init(_ sessions: any LoginSessions) { self.sessions = sessions }

    /// Returns whether a client may ask for nothing, since the screen of its login session is locked.
    ///
    /// - Parameters:
    ///   - user: The user of the client; `nil` if the client is gone.
    ///   - process: The process of the client; `nil` if it is not known.
    /// - Returns: `true` also where that cannot be looked up; `false` outside any session, where polkit decides alone.
    package func refuses(user: UInt32?, process: Int32?) async -> Bool {
        guard user != 0 else { return false }
        guard user != nil, let process else { return true }
        do throws(LoginSessionsFault) {
            return try await sessions.session(ofProcess: process)?.isLocked ?? false
        } catch {
            return true
        }
    }
}
