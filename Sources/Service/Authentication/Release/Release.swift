// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

/// An item that opens to its access control, wherever it lies.
public enum ProtectedItem: Sendable, Hashable {
    /// In the vault's table.
    case stored(ItemID)
    /// With a keeper of its own.
    case sealed(SealedItem)
}

/// A request for what an item holds.
public struct ReleaseRequest: Sendable {
    /// How the person is asked.
    ///
    /// Its policy counts for nothing: the item's access control says what must be shown. Its reuse window counts as a
    /// finger only where ``AccessControl/allowsReuse``.
    public var evaluation: EvaluationRequest
    /// The program's own password, for an item that takes one.
    public var applicationPassword: SecretBox?

    /// Describes a request.
    public init(_ evaluation: EvaluationRequest, applicationPassword: SecretBox? = nil) {
        self.evaluation = evaluation
        self.applicationPassword = applicationPassword
    }
}

/// What an item gave, which there is only where its access control was met.
public struct Released<Product: Sendable>: Sendable {
    /// The secret, or the signature.
    public let product: Product
    /// How the owner was recognised for it; empty for an item that asks for nothing.
    public let evaluations: [Evaluation]

    package init(_ product: Product, after evaluations: [Evaluation]) {
        self.product = product
        self.evaluations = evaluations
    }
}

/// Why an item gave nothing.
public enum ReleaseError: Error, Sendable, Hashable {
    /// The owner was not recognised.
    case evaluation(AuthenticationError)
    /// The vault or the chip refused.
    case vault(VaultError)
}

extension AuthenticationService {
    /// Nothing: a service without a vault seals nothing.
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem { throw .noVault }

    /// Nothing: a service without a vault makes no key.
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem { throw .noVault }

    /// What has the form of an item that some vault has sealed.
    public func sealedItem(encoded: Data) throws(VaultError) -> SealedItem {
        try SealedItem(encoded: encoded)
    }

    /// None: a service without a vault knows no item.
    public func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing] {
        throw .noVault
    }

    /// Nothing: a service without a vault releases nothing.
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> { throw .vault(.noVault) }

    /// Nothing: a service without a vault signs nothing.
    public func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> { throw .vault(.noVault) }

    /// Nothing: a service without a vault agrees on nothing.
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> { throw .vault(.noVault) }
}
