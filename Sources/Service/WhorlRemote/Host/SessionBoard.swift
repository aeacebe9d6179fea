// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import WhorlIPC
import WhorlService

/// The sessions of all users.
///
/// Each lasts as long as the connection over which it was begun.
///
/// A session belongs to the process that began it and to the login session of that process. Other processes cannot use
/// it. For an SSH key, an agent gets a session that lasts as long as its process.
final class SessionBoard: Sendable {
    private struct Entry {
        let owner: ServiceClientIdentity
        let session: OwnerSession
        /// The login session of the last request; `nil` if it was made outside any login session.
        var place: String?

        /// Returns the session, without the proofs from another login session.
        mutating func session(in place: String?) -> OwnerSession {
            if self.place != place {
                session.forget()
                self.place = place
            }
            return session
        }
    }

    /// An SSH key, and the ID of the agent's process.
    private struct Use: Hashable {
        let key: SSHKeyName
        let process: Int32
    }

    /// The maximum number of sessions for SSH keys that a user has; a new one ends the oldest one.
    private static let mostUses = 16

    private let entries = Mutex<[String: Entry]>([:])
    /// Oldest first.
    private let uses = Mutex<[(use: Use, entry: Entry)]>([])

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
            guard entries[id]?.owner.isSameProcess(as: client) == true else { return nil }
            return entries[id]?.session(in: place)
        }
    }

    /// Returns the session in which a process uses an SSH key; `nil` if the process is not known.
    func session(for key: SSHKeyName, of client: ServiceClientIdentity, in place: String?) -> OwnerSession? {
        guard let process = client.process, process.isRunning else { return nil }
        let use = Use(key: key, process: process.pid)
        return uses.withLock { uses in
            uses.removeAll { $0.entry.owner.process?.isRunning != true }
            if let found = uses.firstIndex(where: {
                $0.use == use && $0.entry.owner.isSameProcess(as: client)
            }) {
                return uses[found].entry.session(in: place)
            }
            let own = uses.indices.filter { uses[$0].entry.owner.user.uid == client.user.uid }
            if own.count >= Self.mostUses { uses.remove(at: own[0]) }
            let entry = Entry(owner: client, session: OwnerSession(), place: place)
            uses.append((use, entry))
            return entry.session
        }
    }

    /// Forgets the proofs for an SSH key.
    func forget(_ key: ItemID) {
        let ended = uses.withLock { uses in uses.filter { $0.use.key.id == key }.map(\.entry.session) }
        for session in ended { session.forget() }
    }

    /// Forgets the proofs of one login session or of all, for example when the session is locked or the machine goes to
    /// sleep.
    func forget(in place: String? = nil) {
        for all in [entries.withLock { Array($0.values) }, uses.withLock { $0.map(\.entry) }] {
            for entry in all where place == nil || entry.place == place { entry.session.forget() }
        }
    }
}

/// An SSH key, and not a later one with the same name.
struct SSHKeyName: Hashable {
    let id: ItemID
    private let publicKey: Data

    init(_ id: ItemID, publicKey: Data) {
        self.id = id
        self.publicKey = publicKey
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
