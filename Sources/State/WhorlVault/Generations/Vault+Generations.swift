// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import WhorlTPM
package import WhorlService
import WhorlSupport

/// The generation of a profile's fingers, which is counted in the TPM.
///
/// A counter can only be incremented, and only with the authority. A counter that is deleted and created again starts
/// above all values that any counter in the TPM ever had, and has a different name until it is incremented with the
/// authority. An older database is therefore detected, and the TPM refuses keys that are bound to an earlier value.
extension Vault {
    /// Returns the generation in the TPM, or `stored` if the vault is not provisioned yet.
    ///
    /// For a profile without a counter, this creates one that starts at `stored`, unless the TPM has a counter of this
    /// vault that does not belong to any profile. In that case, the database is an older one.
    ///
    /// - Throws: `counterLost` if the counter is missing, was created again, or is unknown to the database, a storage
    ///   error, or the TPM's errors.
    package func generation(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        guard try isProvisioned else { return stored }
        if let (row, counter) = try await pinnedCounter(of: profile) {
            return try await generation(row, counter)
        }
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        // The vault may have been reset before the lock was acquired.
        guard let authority = try authority() else { return stored }
        // Another process may have created the counter while this one waited.
        if let (row, counter) = try await pinnedCounter(of: profile) {
            return try await generation(row, counter)
        }
        try await refuseStrays(authority)
        try await makeCounter(of: profile, at: stored, authority)
        return stored
    }

    /// Increments the generation by one so that it is `generation`.
    ///
    /// It does nothing if the vault is not provisioned, or if the generation is already `generation` or higher, for
    /// example because another process has incremented it.
    ///
    /// - Throws: The errors of ``generation(of:stored:)``, including `counterLost` if the generation would have to be
    ///   incremented by more than one.
    package func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {
        guard try isProvisioned else { return }
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        guard let authority = try authority() else { return }
        guard let (row, counter) = try await pinnedCounter(of: profile) else {
            throw ServiceError(.counterLost, profile, cause: "no counter is pinned")
        }
        let present = try await self.generation(row, counter)
        if present >= generation { return }
        guard present &+ 1 == generation else {
            throw ServiceError(.counterLost, profile, cause: "generation \(present), requested \(generation)")
        }
        try await count(counter, authority)
    }

    /// Returns whether the vault has been provisioned and has a counter for a profile, without accessing the TPM.
    ///
    /// - Throws: A storage error.
    package func hasCounter(_ profile: String) async throws(ServiceError) -> Bool {
        guard try isProvisioned else { return false }
        return try await pinnedCounter(of: profile) != nil
    }

    /// Accepts the current database as genuine after the owner has agreed.
    ///
    /// Items that were previously bound to a set of fingers can never be unlocked again, because an older set of
    /// fingers must not unlock items that were bound to a newer one.
    ///
    /// - Parameters:
    ///   - profile: The profile whose fingers are accepted.
    ///   - stored: The generation in the database that is accepted.
    /// - Throws: The errors of ``generation(of:stored:)``, except `counterLost`.
    package func acceptGeneration(of profile: String, stored: UInt64) async throws(ServiceError) {
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

    /// Returns whether the TPM has a pinned counter with a value that results in a valid generation.
    ///
    /// - Throws: An error if the TPM cannot be reached, because a counter that cannot be read at the moment is not
    ///   necessarily lost.
    private func isKept(_ row: CounterRow, _ counter: NVCounter) async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            _ = try await generation(row, counter)
            return true
        } catch {
            guard error.code == .counterLost || error.code == .chipCleared else { throw error }
            return false
        }
    }

    /// Returns the counter and the value that a new key is bound to.
    ///
    /// - Throws: `accessRefused` if the profile has never had a finger.
    func presentGeneration(of profile: String) async throws(ServiceError) -> ItemBinding.Generation {
        guard let (_, counter) = try await pinnedCounter(of: profile) else {
            throw .accessRefused(because: "no finger is enrolled that it could be bound to")
        }
        return .init(counter: counter, value: try await value(of: counter, profile))
    }

    private func generation(_ row: CounterRow, _ counter: NVCounter) async throws(ServiceError) -> UInt64 {
        let value = try await value(of: counter, row.profile)
        guard let generation = row.generation(at: value) else {
            throw ServiceError(.counterLost, row.profile, cause: "value \(value)")
        }
        return generation
    }

    /// Returns the counter's value after checking that its name is the pinned one.
    ///
    /// An ordinary index that was defined in the counter's place could contain any number.
    private func value(of counter: NVCounter, _ profile: String) async throws(ServiceError) -> UInt64 {
        let found = try await chip(about: profile) { commands throws(TPMError) in
            try commands.check(counter)
        }
        let cause: String
        switch found {
        case .same(let value): return value
        case .other: cause = "a different index is in its place"
        case .unwritten: cause = "it was redefined"
        case .missing: cause = "it was deleted"
        }
        throw ServiceError(try await isChipAnother() ? .chipCleared : .counterLost, profile, cause: cause)
    }

    /// Returns whether the TPM does not recognize even the authority, because it was cleared or is a different TPM.
    ///
    /// - Throws: An error if the TPM cannot be reached.
    func isChipAnother() async throws(ServiceError) -> Bool {
        guard let authority = try authority() else { return false }
        do {
            try await device.perform { commands throws(TPMError) in
                try commands.load(authority.object, under: authority.root)
            }
            return false
        } catch {
            guard error.code == .foreignBlob || error.code == .foreignRoot else { throw ServiceError(error) }
            return true
        }
    }

    private func count(_ counter: NVCounter, _ authority: VaultAuthority) async throws(ServiceError) {
        try await chip { commands throws(TPMError) in
            try commands.increment(
                counter,
                writePolicy: authority.writePolicy,
                under: authority.root,
                credentials: authority.credentials
            )
        }
    }

    func pinnedCounter(of profile: String) async throws(ServiceError) -> (CounterRow, NVCounter)? {
        let seal = seal
        guard let row = try await database.read({ try CounterRow.read(profile, $0, seal) }) else {
            return nil
        }
        return switch row.place {
        case .planned: nil
        case .pinned(let counter): (row, counter)
        }
    }

    func save(
        _ profile: String,
        _ place: CounterRow.Place,
        _ shift: CounterRow.Shift
    ) async throws(ServiceError) {
        let seal = seal
        let row = CounterRow(profile: profile, place: place, shift: shift.amount)
        try await database.write(.full) { try row.save($0, seal) }
    }
}
