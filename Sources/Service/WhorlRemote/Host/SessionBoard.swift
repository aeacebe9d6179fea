// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The sessions of all users.
///
/// Each lasts as long as the connection over which it was begun.
///
/// A session belongs to the process that began it and to the login session of that process. Other processes cannot use
/// it.
final class SessionBoard: Sendable {
    private struct Entry {
        let owner: ServiceClientIdentity
        let session: OwnerSession
        /// The login session of the last request; `nil` if it was made outside any login session.
        var place: String?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Whether there are no sessions.
    var isEmpty: Bool { entries.withLock(\.isEmpty) }

    /// Begins a session for a process in a login session.
    ///
    /// - Returns: The session's ID: 128 random bits, which only the caller receives.
    func begin(for client: ServiceClientIdentity, in place: String?) -> String {
        let id = randomID()
        entries.withLock { $0[id] = Entry(owner: client, session: OwnerSession(), place: place) }
        return id
    }

    /// Ends a session and forgets its proofs.
    func end(_ id: String) {
        let entry = entries.withLock { $0.removeValue(forKey: id) }
        entry?.session.forget()
    }

    /// Returns the session of a process; `nil` if the ID is unknown or belongs to another process.
    ///
    /// If the process has moved to another login session, the proofs from the previous login session are forgotten.
    func session(_ id: String?, of client: ServiceClientIdentity, in place: String?) -> OwnerSession? {
        guard let id else { return nil }
        return entries.withLock { entries in
            guard var entry = entries[id], entry.owner.isSameProcess(as: client) else { return nil }
            if entry.place != place {
                entry.session.forget()
                entry.place = place
                entries[id] = entry
            }
            return entry.session
        }
    }

    /// Forgets the proofs of one login session or of all, for example when the session is locked or the machine goes to
    /// sleep.
    func forget(in place: String? = nil) {
        let ended = entries.withLock { entries in
            entries.values.filter { place == nil || $0.place == place }.map(\.session)
        }
        for session in ended { session.forget() }
    }
}

extension ServiceClientIdentity {
    /// Returns whether two connections are known to belong to the same process, which is still running.
    ///
    /// Each connection holds a reference to its process, so that neither process ID can have been reused.
    fileprivate func isSameProcess(as other: ServiceClientIdentity) -> Bool {
        guard let process, let theirs = other.process else { return false }
        return user.uid == other.user.uid && process.pid == theirs.pid && process.isRunning
            && theirs.isRunning
    }
}

/// Returns a new ID of 128 random bits, in hexadecimal.
func randomID() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
}
