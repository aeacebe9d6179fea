// SPDX-License-Identifier: Apache-2.0

/// The objects that a service stores for its users, by user ID, with the time when each was last used.
package struct ActiveUsers<Held: Sendable>: Sendable {
    private struct Entry {
        var held: Held
        var lastUse: ContinuousClock.Instant
    }

    private var entries: [UInt32: Entry] = [:]

    package init() {}

    /// The objects of all users.
    package var all: [Held] { entries.values.map(\.held) }

    /// Returns a user's object, and records that it was used now.
    package mutating func use(of uid: UInt32, at now: ContinuousClock.Instant = .now) -> Held? {
        entries[uid]?.lastUse = now
        return entries[uid]?.held
    }

    /// Stores an object for a user, replacing the previous one.
    package mutating func hold(_ held: Held, for uid: UInt32, at now: ContinuousClock.Instant = .now) {
        entries[uid] = Entry(held: held, lastUse: now)
    }

    /// Removes a user's object, and returns it.
    package mutating func remove(_ uid: UInt32) -> Held? { entries.removeValue(forKey: uid)?.held }

    /// Removes the objects of users who are not connected and have not made a call for a given time.
    ///
    /// - Returns: The removed objects, which the caller must release outside any lock.
    package mutating func removeIdle(
        for time: Duration,
        at now: ContinuousClock.Instant = .now,
        isConnected: (UInt32) -> Bool
    ) -> [Held] {
        let idle = entries.filter { now - $0.value.lastUse > time && !isConnected($0.key) }
        for uid in idle.keys { entries[uid] = nil }
        return idle.values.map(\.held)
    }
}
