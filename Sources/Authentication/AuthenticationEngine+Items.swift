// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

extension AuthenticationEngine {
    /// Asks the person for what a secret's access control wants, and gives the secret that the chip releases for it.
    @concurrent
    public func secret(
        _ id: ItemID,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        try await ItemRelease(engine: self, request: request, presenter: presenter).run(.stored(id)) {
            vault,
            proof throws(VaultError) in
            try await vault.secret(id, shown: proof, applicationPassword: request.applicationPassword)
        }
    }

    /// Asks the person for what a key's access control wants, and has the chip sign with it.
    @concurrent
    public func signature(
        over digest: Data,
        with id: ItemID,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> {
        try await ItemRelease(engine: self, request: request, presenter: presenter).run(.stored(id)) {
            vault,
            proof throws(VaultError) in
            try await vault.sign(
                digest: digest,
                with: id,
                shown: proof,
                applicationPassword: request.applicationPassword
            )
        }
    }
}
