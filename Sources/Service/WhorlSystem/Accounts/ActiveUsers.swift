// SPDX-License-Identifier: Apache-2.0

/// The objects that a service holds for its users, by user ID, and the time when each was last used.
package struct ActiveUsers<Held: Sendable>: Sendable {
    private struct Entry {
        var held: Held
        var lastUse: ContinuousClock.Instant
    }

    private var entries: [UInt32: Entry] = [:]

    package init() {}

    /// The objects held for all users.
    package var all: [Held] { entries.values.map(\.held) }

    /// Returns the object held for a user, which counts as used now.
    package mutating func use(of uid: UInt32, at now: ContinuousClock.Instant = .now) -> Held? {
        entries[uid]?.lastUse = now
        return entries[uid]?.held
    }

    /// Holds an object for a user, replacing the earlier one.
    package mutating func hold(_ held: Held, for uid: UInt32, at now: ContinuousClock.Instant = .now) {
        entries[uid] = Entry(held: held, lastUse: now)
    }

    /// Removes the object held for a user, and returns it.
    package mutating func remove(_ uid: UInt32) -> Held? { entries.removeValue(forKey: uid)?.held }

    /// Removes the objects of users without a connection who have made no calls for a given time.
    ///
    /// - Returns: The removed objects, which their owner frees outside of any lock.
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
