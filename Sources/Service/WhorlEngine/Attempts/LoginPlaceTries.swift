// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The counter of failed attempts of all logins on this machine, which is stored in the state of root's engine.
///
/// After five failures in a row, logins by touch pause for a minute, and after each further failure for twice as long,
/// up to an hour.
package final class LoginPlaceTries: PlaceTries {
    private let engine: AuthenticationEngine
    private let known = Mutex(Known())

    /// The facts about the counts that are known in memory, so that nothing is read between a match and the answer.
    private struct Known {
        /// The classes of readers whose counts were zero when they were last read.
        var clear: Set<ReaderClass> = []
        /// The number of misses that this object has counted.
        var misses = 0
    }

    /// Creates a counter in the state of an engine, separate from that engine's own attempts.
    package init(of engine: AuthenticationEngine) { self.engine = engine }

    private static let rules = AttemptRules.ofPlace

    private func ledger(_ readers: ReaderClass) -> AttemptLedger {
        AttemptLedger(profile: engine.profile + " (login)", readers: readers, rules: Self.rules)
    }

    package func check(_ readers: ReaderClass) async throws(ServiceError) {
        let (ledger, now) = (ledger(readers), engine.time.now())
        let misses = known.withLock(\.misses)
        guard let database = try await engine.state.existing() else { return }
        let record = try await database.read { try ledger.record(in: $0) }
        note([readers], areClear: record.failures == 0, after: misses)
        if case .for(let left) = record.lock(at: now, endsByTime: true) { throw .placeRests(for: left) }
    }

    package func charge(_ readers: ReaderClass) async throws(ServiceError) -> PlaceAfterMiss {
        let (ledger, now) = (ledger(readers), engine.time.now())
        known.withLock { known in
            known.misses += 1
            known.clear.remove(readers)
        }
        let resting = engine.entry(.lockout, "resting", for: "login")
        return try await engine.state.created().write(.full) { db in
            var record = try ledger.record(in: db)
            let before = record.lockouts
            record.charge(at: now)
            try ledger.save(record, in: db)
            guard record.lockouts > before else { return .open(remaining: record.remaining) }
            try AuditLog.append(resting, in: db)
            let length = Self.rules.lockLength(number: record.lockouts)
            return .rests(for: .milliseconds(length), isFirst: before == 0)
        }
    }

    package func clear() async throws(ServiceError) {
        let (misses, unclear) = known.withLock { known in
            (known.misses, ReaderClass.allCases.filter { !known.clear.contains($0) })
        }
        let ledgers = unclear.map(ledger)
        guard !ledgers.isEmpty, let database = try await engine.state.existing() else { return }
        let isClear = try await database.read { db in
            try ledgers.allSatisfy { try $0.record(in: db).failures == 0 }
        }
        if !isClear {
            try await database.write(.relaxed) { db in for ledger in ledgers { try ledger.reset(in: db) } }
        }
        note(unclear, areClear: true, after: misses)
    }

    /// Remembers whether counts are zero unless a miss was counted while they were being read.
    private func note(_ readers: [ReaderClass], areClear: Bool, after misses: Int) {
        known.withLock { known in
            if !areClear {
                known.clear.subtract(readers)
            } else if known.misses == misses {
                known.clear.formUnion(readers)
            }
        }
    }
}
