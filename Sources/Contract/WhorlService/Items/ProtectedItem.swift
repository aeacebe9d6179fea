// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlSecretMemory

/// The kind of an item.
public enum ItemKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// Bytes that the chip gives back.
    case secret
    /// A P-256 key that signs inside the chip and never leaves it.
    case key
}

/// The identity of an item: a profile has at most one item of each kind and name.
public struct ItemID: Sendable, Hashable, Codable {
    /// The profile that owns the item.
    public let profile: String
    /// The kind of the item: secret or key.
    public let kind: ItemKind
    /// The name of the item.
    public let name: ItemName

    /// Makes an identity; the item need not exist.
    public init(_ kind: ItemKind, _ name: ItemName, of profile: String) {
        self.profile = profile
        self.kind = kind
        self.name = name
    }

    /// The item's kind and name as people read them, for example `secret "wifi"`.
    public var spoken: String { "\(kind.rawValue) \"\(name.text)\"" }
}

/// The description of an item, which is available without opening it.
public struct VaultItem: Sendable, Hashable, Codable {
    /// The identity of the item.
    public let id: ItemID
    /// The access control of the item.
    public let access: AccessControl
    /// The time at which the item was made.
    public let createdAt: Date
    /// Whether the item's access control can still be met, as far as the database knows; the chip decides.
    public let standing: Standing

    /// The standing of an item.
    public enum Standing: String, Sendable, Hashable, Codable {
        /// No reason is known why the item should not open.
        case valid
        /// A finger was added or removed since the item was bound to the set; no other way opens it, so it is lost.
        ///
        /// The chip has confirmed this: the counter of the profile's fingers was read, and has another value.
        case enrollmentChanged
        /// The chip could not be asked, or has lost the counter that the item is bound to; the item may open.
        case unknown
        /// The item's row was changed from outside, or the item belongs to another chip.
        case tampered
    }

    /// Describes an item.
    public init(id: ItemID, access: AccessControl, createdAt: Date, standing: Standing) {
        self.id = id
        self.access = access
        self.createdAt = createdAt
        self.standing = standing
    }
}

/// A TPM-wrapped secret or key that the caller stores.
///
/// It opens only on the machine and for the vault that it was made in. It does not reveal the secret: a reader
/// learns only the kind of item and its access control.
public struct SealedItem: Sendable, Hashable, Codable {
    /// The kind of the item: secret or key.
    public let kind: ItemKind
    /// The profile that owns the item.
    public let profile: String
    /// The access control of the item.
    public let access: AccessControl
    /// The public half of a key, as ANSI X9.63 (0x04, X, Y; 65 bytes); `nil` for a secret.
    public let publicKey: Data?
    /// The bytes that the caller stores.
    public let encoded: Data

    package init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, encoded: Data) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.encoded = encoded
    }
}

/// The sizes of a secret.
public enum SecretSize {
    /// The sizes that a secret may have, in bytes: 1 byte to 1 MiB.
    public static let allowed = 1...(1 << 20)
}

/// An item that opens when its access control is met, wherever it is stored.
public enum ProtectedItem: Sendable, Hashable, Codable {
    /// An item in the vault's table, under its name.
    case named(ItemID)
    /// A sealed item that the caller stores.
    case sealed(SealedItem)

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
    /// The evaluations that recognized the owner for it; empty for an item that requires none.
    public let evaluations: [Evaluation]

    package init(_ product: Product, after evaluations: [Evaluation]) {
        self.product = product
        self.evaluations = evaluations
    }
}
