// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The sessions of all users, each as long as the connection that began it.
final class SessionBoard: Sendable {
    private struct Place {
        let uid: UInt32
        let session: OwnerSession
    }

    private let places = Mutex<[String: Place]>([:])

    /// Begins a session.
    ///
    /// - Returns: Its id: 128 random bits, which only the caller learns.
    func begin(for user: PeerUser) -> String {
        let id = randomID()
        places.withLock { $0[id] = Place(uid: user.uid, session: OwnerSession()) }
        return id
    }

    /// Ends a session; what was shown in it is forgotten.
    func end(_ id: String) {
        let place = places.withLock { $0.removeValue(forKey: id) }
        place?.session.forget()
    }

    /// Returns a session of the user; `nil` for an id that is unknown or another user's.
    func session(_ id: String?, of user: PeerUser) -> OwnerSession? {
        guard let id, let place = places.withLock({ $0[id] }), place.uid == user.uid else { return nil }
        return place.session
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
