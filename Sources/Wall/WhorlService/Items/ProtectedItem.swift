// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// An item that opens when its access control is met, wherever it is stored.
public enum ProtectedItem: Sendable, Hashable, Codable {
    /// An item in the vault's table, under its name.
    case named(ItemID)
    /// A sealed item that the caller stores.
    case sealed(SealedItem)

    private enum CodingKeys: String, CodingKey {
        case named = "named"
        case sealed = "sealed"
    }

    private enum NamedCodingKeys: String, CodingKey { case _0 = "id" }
    private enum SealedCodingKeys: String, CodingKey { case _0 = "item" }
}

/// A request for the content of an item.
public struct ReleaseRequest: Sendable {
    /// The way in which the person is asked.
    ///
    /// Its policy is ignored: the item's access control says what must be shown. A match from its reuse window counts
    /// as a finger only if ``AccessControl/allowsReuse`` is `true`.
    public var evaluation: EvaluationRequest
    /// The program's own password, for an item that takes one.
    public var applicationPassword: SecretBox?

    /// Makes a request.
    public init(_ evaluation: EvaluationRequest, applicationPassword: SecretBox? = nil) {
        self.evaluation = evaluation
        self.applicationPassword = applicationPassword
    }
}

/// The product of an item, which exists only if the item's access control was met.
public struct Released<Product: Sendable>: Sendable {
    /// The secret, the signature or the shared secret.
    public let product: Product
    /// The evaluations that recognised the owner for it; empty for an item that requires none.
    public let evaluations: [Evaluation]

    package init(_ product: Product, after evaluations: [Evaluation]) {
        self.product = product
        self.evaluations = evaluations
    }
}

/// An error of releasing an item.
public enum ReleaseError: Error, Sendable, Hashable, Codable {
    /// The owner was not recognised.
    case evaluation(AuthenticationError)
    /// The vault or the chip refused.
    case vault(VaultError)

    private enum CodingKeys: String, CodingKey {
        case evaluation = "evaluation"
        case vault = "vault"
    }

    private enum EvaluationCodingKeys: String, CodingKey { case _0 = "error" }
    private enum VaultCodingKeys: String, CodingKey { case _0 = "error" }
}
