// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The sessions of all users, each of which lasts as long as the connection that began it.
///
/// A session belongs to the process that began it and to the login session in which it did. For every other process, it
/// does not exist.
final class SessionBoard: Sendable {
    private struct Entry {
        let owner: ServiceClientIdentity
        let session: OwnerSession
        /// The login session of the last request; `nil` for none.
        var place: String?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Whether there are no sessions.
    var isEmpty: Bool { entries.withLock(\.isEmpty) }

    /// Begins a session for a process in a login session.
    ///
    /// - Returns: Its ID: 128 random bits, which only the caller receives.
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

    /// Returns the session of a process; `nil` for an ID that is unknown or another process's.
    ///
    /// If the process has moved to another login session, the proofs from the previous one are forgotten.
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

    /// Forgets the proofs of one login session or of all of them, for example when it is locked or the machine sleeps.
    func forget(in place: String? = nil) {
        let ended = entries.withLock { entries in
            entries.values.filter { place == nil || $0.place == place }.map(\.session)
        }
        for session in ended { session.forget() }
    }
}

extension ServiceClientIdentity {
    /// Returns whether two connections are known to belong to one process that is still running.
    ///
    /// Each holds its process, so that neither process ID can have been reused.
    fileprivate func isSameProcess(as other: ServiceClientIdentity) -> Bool {
        guard let process, let theirs = other.process else { return false }
        return user.uid == other.user.uid && process.pid == theirs.pid && process.isRunning
            && theirs.isRunning
    }
}

/// Creates an ID of 128 random bits, in hexadecimal.
func randomID() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
}
