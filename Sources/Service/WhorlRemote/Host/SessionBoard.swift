// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The sessions of all users, each as long as the connection that began it.
///
/// A session belongs to the process that began it and to the login session in which it did. To every other process, it does
/// not exist.
final class SessionBoard: Sendable {
    private struct Entry {
        let owner: ServiceClientIdentity
        let session: OwnerSession
        /// The login session of the last request; `nil` for none.
        var place: String?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Whether no session goes on.
    var isEmpty: Bool { entries.withLock(\.isEmpty) }

    /// Begins a session for a process in a login session.
    ///
    /// - Returns: Its id: 128 random bits, which only the caller learns.
    func begin(for client: ServiceClientIdentity, in place: String?) -> String {
        let id = randomID()
        entries.withLock { $0[id] = Entry(owner: client, session: OwnerSession(), place: place) }
        return id
    }

    /// Ends a session; what was shown in it is forgotten.
    func end(_ id: String) {
        let entry = entries.withLock { $0.removeValue(forKey: id) }
        entry?.session.forget()
    }

    /// Returns the session of a process; `nil` for an id that is unknown or another process's.
    ///
    /// If the process has come to another login session since, what was shown in the one before is forgotten.
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

    /// Forgets what was shown in a login session, or in all of them, such as when it is locked or the machine sleeps.
    func forget(in place: String? = nil) {
        let ended = entries.withLock { entries in
            entries.values.filter { place == nil || $0.place == place }.map(\.session)
        }
        for session in ended { session.forget() }
    }
}

extension ServiceClientIdentity {
    /// Whether two connections are known to be of one process that still runs.
    ///
    /// Each holds its process, so that neither number can have come to mean another one.
    fileprivate func isSameProcess(as other: ServiceClientIdentity) -> Bool {
        guard let process, let theirs = other.process else { return false }
        return user.uid == other.user.uid && process.pid == theirs.pid && process.isRunning
            && theirs.isRunning
    }
}

/// Makes an id of 128 random bits, in hexadecimal.
func randomID() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
}
