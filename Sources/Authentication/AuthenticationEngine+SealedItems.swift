// SPDX-License-Identifier: Apache-2.0

import Enrollment
public import Foundation
public import SecretMemory
import StateStore
public import Vault

/// Items that lie with a keeper of their own.
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

    /// How sealed items stand; neither the owner nor the chip is asked.
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

    /// Asks the person for what the item's access control wants, and gives the secret that the chip releases for it.
    @concurrent
    public func secret(
        in item: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        try await ItemRelease(engine: self, request: request, presenter: presenter).run(.sealed(item)) {
            vault,
            proof throws(VaultError) in
            try await vault.secret(in: item, shown: proof, applicationPassword: request.applicationPassword)
        }
    }

    /// Asks the person for what the key's access control wants, and has the chip sign with it.
    @concurrent
    public func signature(
        over digest: Data,
        with key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> {
        // Nobody is asked for what cannot be signed.
        guard digest.count == 32 else { throw .vault(VaultError(.digestWrongSize(bytes: digest.count))) }
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(.sealed(key)) {
            vault,
            proof throws(VaultError) in
            try await vault.sign(
                digest: digest,
                with: key,
                shown: proof,
                applicationPassword: request.applicationPassword
            )
        }
    }

    /// Asks the person for what the key's access control wants, and has the chip multiply another's public key with it.
    @concurrent
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        do throws(VaultError) { try Vault.check(publicKey: publicKey) } catch { throw .vault(error) }
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(.sealed(key)) {
            vault,
            proof throws(VaultError) in
            try await vault.sharedSecret(
                with: publicKey,
                of: key,
                shown: proof,
                applicationPassword: request.applicationPassword
            )
        }
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
            .noSuchFinger, .readerNotConnected, .reader:
            self.init(.accessRefused("the enrolled fingers cannot be trusted"), cause: error.description)
        }
    }
}
