// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import TPM

/// Making a profile's counter in the chip, step by step, so that a run which ends anywhere can be gone on with.
///
/// 1. The index is written down.
/// 2. The counter is defined at it, and counted once, so that it has a value.
/// 3. It is pinned: its name and its value are written down.
extension Vault {
    /// Where this vault's counters lie, as `TPMCommands.findCounters(writePolicy:)` looks for them.
    static let counterIndices: ClosedRange<UInt32> = 0x0180_5701...0x0180_57FF

    /// Makes the counter of a profile, whose generation is `stored` from then on.
    ///
    /// The caller holds the lock.
    func makeCounter(
        of profile: String,
        at stored: UInt64,
        _ authority: VaultAuthority
    ) async throws(VaultError) {
        let counter = try await definedCounter(of: profile, authority)
        let value = try await chip { commands throws(TPMError) in try commands.read(counter) }
        try await save(profile, .pinned(counter), .shift(from: value, to: stored))
    }

    private func definedCounter(
        of profile: String,
        _ authority: VaultAuthority
    ) async throws(VaultError) -> NVCounter {
        for _ in 0..<Vault.counterIndices.count {
            let index = try await plannedIndex(of: profile)
            do {
                return try await device.perform { commands throws(TPMError) in
                    try Vault.counter(at: index, commands, authority)
                }
            } catch {
                guard error.code == .nvDefined else { throw VaultError(error, profile) }
                // Another program was faster at this index: the next round plans another one.
                try await forgetPlan(of: profile)
            }
        }
        throw VaultError(.chipFull, profile)
    }

    /// The counter at a planned index: what an earlier run has left there, or a new one.
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

    /// `false` for a counter that was defined and never counted.
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

    private func plannedIndex(of profile: String) async throws(VaultError) -> UInt32 {
        let seal = seal
        let rows = try await read { try CounterRow.all($0, seal) }
        if case .planned(let index) = rows.first(where: { $0.profile == profile })?.place { return index }
        let used = Set(
            try await chip { commands throws(TPMError) in try commands.handles(.nvIndices) }
                + rows.map(\.place.index)
        )
        guard let free = Vault.counterIndices.first(where: { !used.contains($0) }) else {
            throw VaultError(.chipFull, profile)
        }
        try await save(profile, .planned(free), CounterRow.Shift(amount: 0))
        return free
    }

    private func forgetPlan(of profile: String) async throws(VaultError) {
        try await write { db in
            try db.execute(sql: "DELETE FROM vault_counters WHERE profile = ?", arguments: [profile])
        }
    }

    /// Counters of this vault that no profile knows: the database is older than they are.
    private func strays(_ authority: VaultAuthority) async throws(VaultError) -> [NVCounter] {
        let seal = seal
        let known = Set(try await read { try CounterRow.all($0, seal).map(\.place.index) })
        let found = try await chip { commands throws(TPMError) in
            try commands.findCounters(writePolicy: authority.writePolicy.digest)
        }
        return found.filter { !known.contains($0.index) }
    }

    func refuseStrays(_ authority: VaultAuthority) async throws(VaultError) {
        let strays = try await strays(authority)
        guard strays.isEmpty else {
            let indices = strays.map { "0x" + String($0.index, radix: 16) }.joined(separator: ", ")
            throw VaultError(.counterLost, cause: "the database does not know the counters \(indices)")
        }
    }

    func removeStrays(_ authority: VaultAuthority) async throws(VaultError) {
        let strays = try await strays(authority)
        guard !strays.isEmpty else { return }
        try await chip { commands throws(TPMError) in
            for stray in strays { try commands.undefine(stray) }
        }
    }
}
