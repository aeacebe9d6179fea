// SPDX-License-Identifier: Apache-2.0

import StateStore
import TPM
import WhorlSupport

/// The generation of a profile's fingers, counted in the chip.
///
/// A counter can only be counted up, and only by the authority. A deleted and re-made one begins above all that the
/// chip ever had, and its name differs until the authority counts it. So an older database is noticed, and keys that are
/// bound to an earlier value are dead for the chip.
extension Vault {
    /// The generation that the chip has; `stored` itself before the vault is provisioned.
    ///
    /// A profile without a counter gets one that begins at `stored`, unless the chip holds a counter of this vault that
    /// no profile knows: then the database is an older one.
    ///
    /// - Throws: `counterLost`: the counter is gone, was made anew, or the database does not know it; `store`; what
    ///   the chip reports.
    public func generation(of profile: String, stored: UInt64) async throws(VaultError) -> UInt64 {
        guard try isProvisioned else { return stored }
        if let (row, counter) = try await pinnedCounter(of: profile) {
            return try await generation(row, counter)
        }
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        // A reset may have come before.
        guard let authority = try authority() else { return stored }
        // Another process may have made it while this one waited.
        if let (row, counter) = try await pinnedCounter(of: profile) {
            return try await generation(row, counter)
        }
        try await refuseStrays(authority)
        try await makeCounter(of: profile, at: stored, authority)
        return stored
    }

    /// Counts the generation up by one, to `generation`; does nothing when it is that or more already, as where another
    /// process has counted on meanwhile, or before the vault is provisioned.
    ///
    /// - Throws: as ``generation(of:stored:)``; `counterLost` also when it would not be a step of one.
    public func advance(_ profile: String, to generation: UInt64) async throws(VaultError) {
        guard try isProvisioned else { return }
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        guard let authority = try authority() else { return }
        guard let (row, counter) = try await pinnedCounter(of: profile) else {
            throw VaultError(.counterLost, profile, cause: "no counter is pinned")
        }
        let present = try await self.generation(row, counter)
        if present >= generation { return }
        guard present &+ 1 == generation else {
            throw VaultError(.counterLost, profile, cause: "generation \(present), asked for \(generation)")
        }
        try await count(counter, authority)
    }

    /// Whether the vault was provisioned and has a counter for a profile; the chip is not asked.
    ///
    /// - Throws: `store`.
    public func hasCounter(_ profile: String) async throws(VaultError) -> Bool {
        guard try isProvisioned else { return false }
        return try await pinnedCounter(of: profile) != nil
    }

    /// Takes the present database as the true one, after the owner has said so.
    ///
    /// Everything that was bound to a set of fingers before is dead afterwards: an older set of fingers must not open
    /// what was bound to a newer one.
    ///
    /// - Parameters:
    ///   - profile: Whose fingers.
    ///   - stored: The generation of the database that is accepted.
    /// - Throws: as ``generation(of:stored:)``, without `counterLost`.
    public func acceptGeneration(of profile: String, stored: UInt64) async throws(VaultError) {
        guard try isProvisioned else { return }
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        guard let authority = try authority() else { return }
        try await removeStrays(authority)
        guard let (row, counter) = try await pinnedCounter(of: profile), try await isKept(row, counter) else {
            return try await makeCounter(of: profile, at: stored, authority)
        }
        try await count(counter, authority)
        let value = try await value(of: counter, profile)
        try await save(profile, .pinned(counter), .shift(from: value, to: stored))
    }

    /// Whether the chip has a pinned counter, with a value that makes a generation.
    ///
    /// - Throws: what keeps the chip from being asked: a counter that cannot be read now is not lost.
    private func isKept(_ row: CounterRow, _ counter: NVCounter) async throws(VaultError) -> Bool {
        do throws(VaultError) {
            _ = try await generation(row, counter)
            return true
        } catch {
            guard error.code == .counterLost || error.code == .chipCleared else { throw error }
            return false
        }
    }

    /// The counter and the value that a key made now is bound to.
    ///
    /// - Throws: `accessRefused` for a profile that never had a finger.
    func presentGeneration(of profile: String) async throws(VaultError) -> ItemBinding.Generation {
        guard let (_, counter) = try await pinnedCounter(of: profile) else {
            throw VaultError(.accessRefused("no finger is enrolled that it could be bound to"))
        }
        return .init(counter: counter, value: try await value(of: counter, profile))
    }

    private func generation(_ row: CounterRow, _ counter: NVCounter) async throws(VaultError) -> UInt64 {
        let value = try await value(of: counter, row.profile)
        guard let generation = row.generation(at: value) else {
            throw VaultError(.counterLost, row.profile, cause: "value \(value)")
        }
        return generation
    }

    /// The counter's value, after its name was found to be the pinned one: a plain index that somebody defined in its
    /// place could hold any number.
    private func value(of counter: NVCounter, _ profile: String) async throws(VaultError) -> UInt64 {
        let found = try await chip(about: profile) { commands throws(TPMError) in
            try commands.check(counter)
        }
        let cause: String
        switch found {
        case .same(let value): return value
        case .other: cause = "another index is in its place"
        case .unwritten: cause = "it was defined anew"
        case .missing: cause = "it was deleted"
        }
        throw VaultError(try await isChipAnother() ? .chipCleared : .counterLost, profile, cause: cause)
    }

    /// Whether not even the authority is known to the chip: then it was cleared, or is not the one it was.
    ///
    /// - Throws: what keeps the chip from being asked.
    func isChipAnother() async throws(VaultError) -> Bool {
        guard let authority = try authority() else { return false }
        do {
            try await device.perform { commands throws(TPMError) in
                try commands.load(authority.object, under: authority.root)
            }
            return false
        } catch {
            guard error.code == .foreignBlob || error.code == .foreignRoot else { throw VaultError(error) }
            return true
        }
    }

    private func count(_ counter: NVCounter, _ authority: VaultAuthority) async throws(VaultError) {
        try await chip { commands throws(TPMError) in
            try commands.increment(
                counter,
                writePolicy: authority.writePolicy,
                under: authority.root,
                credentials: authority.credentials
            )
        }
    }

    func pinnedCounter(of profile: String) async throws(VaultError) -> (CounterRow, NVCounter)? {
        let seal = seal
        guard let row = try await read({ try CounterRow.read(profile, $0, seal) }) else { return nil }
        return switch row.place {
        case .planned: nil
        case .pinned(let counter): (row, counter)
        }
    }

    func save(
        _ profile: String,
        _ place: CounterRow.Place,
        _ shift: CounterRow.Shift
    ) async throws(VaultError) {
        let seal = seal
        let row = CounterRow(profile: profile, place: place, shift: shift.amount)
        try await write { try row.save($0, seal) }
    }
}
