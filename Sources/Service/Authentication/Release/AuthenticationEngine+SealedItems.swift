// SPDX-License-Identifier: Apache-2.0

import Enrollment
public import SecretMemory
import StateStore
public import Vault

/// Making items that lie with a keeper of their own, and looking at them.
extension AuthenticationEngine {
    /// Seals a secret for the chip, for whoever keeps the sealed item; the vault is made when nothing was ever stored.
    @concurrent
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        try await vaultForNew(access).seal(
            secret,
            of: profile,
            access: access,
            applicationPassword: applicationPassword
        )
    }

    /// Makes a key in the chip, for whoever keeps the sealed item; the vault is made when nothing was ever stored.
    @concurrent
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        try await vaultForNew(access).makeKey(
            of: profile,
            access: access,
            applicationPassword: applicationPassword
        )
    }

    /// How sealed items stand; the owner is not asked, and the chip only where the database says that the fingers have
    /// changed.
    @concurrent
    public func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing] {
        guard let vault = try await self.vault.existing(), let store = try await store() else {
            return items.map { _ in .tampered }
        }
        let generation: UInt64
        do throws(EnrollmentError) {
            generation = try await store.recordedGeneration(of: profile)
        } catch {
            throw VaultError(error, of: profile)
        }
        return try await vault.standing(of: items, profile: profile, generation: generation)
    }

    /// The vault, in which a new item can be bound to what its access control names.
    ///
    /// Fingers that were enrolled before there was a chip get their counter when they are looked at.
    private func vaultForNew(_ access: AccessControl) async throws(VaultError) -> Vault {
        let vault = try await self.vault.made()
        guard access.isBoundToCurrentSet else { return vault }
        try await vault.provision()
        let fingers: EnrollmentSnapshot?
        let store = try await store()
        do throws(EnrollmentError) {
            fingers = try await store?.snapshot(of: profile)
        } catch {
            throw VaultError(error, of: profile)
        }
        guard let fingers, !fingers.fingers.isEmpty else {
            throw VaultError(.accessRefused("no finger is enrolled that it could be bound to"))
        }
        return vault
    }

    private func store() async throws(VaultError) -> EnrollmentStore? {
        do throws(StateError) {
            return try await state.existing().map {
                EnrollmentStore(database: $0, generations: state.generations)
            }
        } catch {
            throw VaultError(.store(error), error.path)
        }
    }
}

extension VaultError {
    /// What a failure to look at the fingers means for an item.
    fileprivate init(_ error: EnrollmentError, of profile: String) {
        switch error.code {
        case .store(let error): self.init(.store(error), error.path)
        case .enrollmentRolledBack: self.init(.counterLost, profile, cause: error.description)
        case .enrollmentTampered, .fingerExists, .duplicate, .inconsistent, .tooManyRetries, .timedOut,
            .noSuchFinger, .readerNotConnected, .reader, .ownerNeeded, .changedMeanwhile, .lockedOut:
            self.init(.accessRefused("the enrolled fingers cannot be trusted"), cause: error.description)
        }
    }
}
