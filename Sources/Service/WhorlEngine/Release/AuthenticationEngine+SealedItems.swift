// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
public import Foundation
public import SecretMemory
import StateStore
import WhorlVault
public import WhorlService

/// The making and checking of items that the caller stores.
extension AuthenticationEngine {
    /// Makes an item with the chip that the caller stores; the vault is made if nothing was ever stored.
    @concurrent
    public func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        let vault = try await vaultForNew(access)
        return switch item {
        case .secret(let secret):
            try await vault.seal(
                secret,
                of: profile,
                access: access,
                applicationPassword: applicationPassword
            )
        case .key:
            try await vault.makeKey(of: profile, access: access, applicationPassword: applicationPassword)
        }
    }

    /// Decodes bytes that have the form of a sealed item, of whichever vault.
    public func sealedItem(encoded: Data) throws(VaultError) -> SealedItem {
        try SealedItem(encoded: encoded)
    }

    /// Returns the standing of sealed items; the owner is not asked, and the chip only where the database says that the
    /// fingers have changed.
    @concurrent
    public func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing] {
        guard let vault = try await self.vault.existingVault(), let store = try await store() else {
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

    /// Returns the vault, ready to bind a new item to the conditions of its access control.
    ///
    /// Fingers that were enrolled before a chip was in use get their counter when they are read.
    func vaultForNew(_ access: AccessControl) async throws(VaultError) -> Vault {
        let vault = try await self.vault.createdVault()
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
    /// Makes the vault's error for a failure to read the enrolled fingers.
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
