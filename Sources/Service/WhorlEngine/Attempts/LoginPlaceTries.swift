// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The failed tries of all logins at this machine, in the state of root's engine.
///
/// After five in a row the place rests for a minute, and after each further one for twice as long, at most an hour.
package struct LoginPlaceTries: PlaceTries {
    private let engine: AuthenticationEngine

    /// Counts in the state of an engine, apart from that engine's own tries.
    package init(of engine: AuthenticationEngine) { self.engine = engine }

    private static let rules = AttemptRules.ofPlace

    private func ledger(_ readers: ReaderClass) -> AttemptLedger {
        AttemptLedger(profile: engine.profile + " (login)", readers: readers, rules: Self.rules)
    }

    package func check(_ readers: ReaderClass) async throws(ServiceError) {
        let (ledger, now) = (ledger(readers), engine.time.now())
        let lock: LockState
        guard let database = try await engine.state.existing() else { return }
        lock = try await database.read { try ledger.record(in: $0).lock(at: now, endsByTime: true) }
        if case .for(let left) = lock { throw .placeRests(for: left) }
    }

    package func charge(_ readers: ReaderClass) async throws(ServiceError) -> PlaceAfterMiss {
        let (ledger, now) = (ledger(readers), engine.time.now())
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
        let ledgers = ReaderClass.allCases.map(ledger)
        guard let database = try await engine.state.existing() else { return }
        let isClear = try await database.read { db in
            try ledgers.allSatisfy { try $0.record(in: db).failures == 0 }
        }
        guard !isClear else { return }
        try await database.write(.relaxed) { db in for ledger in ledgers { try ledger.reset(in: db) } }
    }
}
