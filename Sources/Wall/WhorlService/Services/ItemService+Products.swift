// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory

/// The uses of an item, each with the type of its product.
extension ItemService {
    /// Seals a secret of 1 byte to 1 MiB into an item that the caller stores.
    ///
    /// - Throws: as ``make(_:access:applicationPassword:)``.
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        try await make(.secret(secret), access: access, applicationPassword: applicationPassword)
    }

    /// Makes a P-256 key in the chip, as a sealed item that the caller stores.
    ///
    /// - Throws: as ``make(_:access:applicationPassword:)``.
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        try await make(.key, access: access, applicationPassword: applicationPassword)
    }

    /// Returns a secret, after the person has shown what its access control requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        try await use(item, for: .secret, request, presenter: presenter).secret()
    }

    /// Returns a signature over a SHA-256 digest of 32 bytes, after the person has shown what the key requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> {
        let released = try await use(key, for: .signature(over: digest), request, presenter: presenter)
        guard case .signature(let signature) = released.product else { throw .vault(.otherProduct) }
        return Released(signature, after: released.evaluations)
    }

    /// Returns the X coordinate, 32 bytes, of the product of another party's public key and a sealed key, after the
    /// person has shown what the key requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        try await use(.sealed(key), for: .sharedSecret(with: publicKey), request, presenter: presenter)
            .secret()
    }
}

extension Released<ItemProduct> {
    fileprivate func secret() throws(ReleaseError) -> Released<SecretBox> {
        guard case .secret(let secret) = product else { throw .vault(.otherProduct) }
        return Released<SecretBox>(secret, after: evaluations)
    }
}

extension VaultError {
    /// The error of a service that answers with another product than the one that was asked for.
    fileprivate static var otherProduct: VaultError {
        VaultError(.chipFailed, cause: "the service returned another product")
    }
}
