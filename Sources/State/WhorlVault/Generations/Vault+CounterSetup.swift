// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite
import WhorlStateStore
import WhorlTPM
import WhorlService

/// The setup of a profile's counter in the TPM, done in steps so that an interrupted run can be resumed.
///
/// 1. The index is stored.
/// 2. The counter is defined at the index and incremented once so that it has a value.
/// 3. The counter is pinned by storing its name and its value.
extension Vault {
    /// Creates a counter for a profile, whose generation is `stored` from then on.
    ///
    /// The caller must have acquired the lock.
    func makeCounter(
        of profile: String,
        at stored: UInt64,
        _ authority: VaultAuthority
    ) async throws(ServiceError) {
        let counter = try await definedCounter(of: profile, authority)
        let value = try await chip { commands throws(TPMError) in try commands.read(counter) }
        try await save(profile, .pinned(counter), .shift(from: value, to: stored))
    }

    private func definedCounter(
        of profile: String,
        _ authority: VaultAuthority
    ) async throws(ServiceError) -> NVCounter {
        for _ in 0..<NVCounter.ownIndices.count {
            let index = try await plannedIndex(of: profile)
            do {
                return try await device.perform { commands throws(TPMError) in
                    try Vault.counter(at: index, commands, authority)
                }
            } catch {
                guard error.code == .nvDefined else { throw ServiceError(error, profile) }
                // Another program was faster at this index, so the next round plans another one.
                try await forgetPlan(of: profile)
            }
        }
        throw ServiceError(.chipFull, profile)
    }

    /// Returns the counter at a planned index, which is either the one that an earlier run left there or a new one.
    private static func counter(
        at index: UInt32,
        _ commands: borrowing TPMCommands,
        _ authority: VaultAuthority
    ) throws(TPMError) -> NVCounter {
        let left = try commands.findCounters(writePolicy: authority.writePolicy.digest).first {
            $0.index == index
        }
        if let left {
            if try isCounted(left, commands) { return left }
            try commands.undefine(left)
        }
        return try commands.defineCounter(
            at: index,
            writePolicy: authority.writePolicy,
            under: authority.root,
            credentials: authority.credentials
        )
    }

    /// Returns whether the counter has been incremented since it was defined.
    private static func isCounted(
        _ counter: NVCounter,
        _ commands: borrowing TPMCommands
    ) throws(TPMError) -> Bool {
        do {
            _ = try commands.read(counter)
            return true
        } catch {
            guard error.code == .nvUnwritten else { throw error }
            return false
        }
    }

    private func plannedIndex(of profile: String) async throws(ServiceError) -> UInt32 {
        let seal = seal
        let rows = try await database.read { try CounterRow.all($0, seal) }
        if case .planned(let index) = rows.first(where: { $0.profile == profile })?.place { return index }
        let used = Set(
            try await chip { commands throws(TPMError) in try commands.handles(.nvIndices) }
                + rows.map(\.place.index)
        )
        guard let free = NVCounter.ownIndices.first(where: { !used.contains($0) }) else {
            throw ServiceError(.chipFull, profile)
        }
        try await save(profile, .planned(free), CounterRow.Shift(amount: 0))
        return free
    }

    private func forgetPlan(of profile: String) async throws(ServiceError) {
        try await database.write(.full) { db in
            try db.execute(sql: "DELETE FROM vault_counters WHERE profile = ?", arguments: [profile])
        }
    }

    /// Returns this vault's counters that do not belong to any profile.
    ///
    /// Each of them is newer than the database.
    private func strays(_ authority: VaultAuthority) async throws(ServiceError) -> [NVCounter] {
        let seal = seal
        let known = Set(try await database.read { try CounterRow.all($0, seal).map(\.place.index) })
        let found = try await chip { commands throws(TPMError) in
            try commands.findCounters(writePolicy: authority.writePolicy.digest)
        }
        return found.filter { !known.contains($0.index) }
    }

    func refuseStrays(_ authority: VaultAuthority) async throws(ServiceError) {
        let strays = try await strays(authority)
        guard strays.isEmpty else {
            let indices = strays.map { "0x" + String($0.index, radix: 16) }.joined(separator: ", ")
            throw ServiceError(.counterLost, cause: "the database does not know the counters \(indices)")
        }
    }

    func removeStrays(_ authority: VaultAuthority) async throws(ServiceError) {
        let strays = try await strays(authority)
        guard !strays.isEmpty else { return }
        try await chip { commands throws(TPMError) in
            for stray in strays { try commands.undefine(stray) }
        }
    }
}
