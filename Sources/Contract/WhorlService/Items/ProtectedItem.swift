// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlSecretMemory

/// The kind of an item.
public enum ItemKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// Bytes that the TPM releases.
    case secret
    /// A P-256 key that signs inside the TPM and never leaves it.
    case key
    /// A key like ``key`` that signs only requests of SSH, whose meaning the service itself shows (``SignForSSH``).
    case sshKey

    /// The kind for display.
    var spoken: String {
        switch self {
        case .secret: "secret"
        case .key: "key"
        case .sshKey: "SSH key"
        }
    }
}

/// The identity of an item; a profile has at most one item of each kind and name.
public struct ItemID: Sendable, Hashable, Codable {
    /// The profile that owns the item.
    public let profile: String
    /// The kind of the item.
    public let kind: ItemKind
    /// The name of the item.
    public let name: ItemName

    /// Creates an identity; the item does not need to exist.
    public init(_ kind: ItemKind, _ name: ItemName, of profile: String) {
        self.profile = profile
        self.kind = kind
        self.name = name
    }

    /// The item's kind and name for display, for example `secret "wifi"`.
    public var spoken: String { "\(kind.spoken) \"\(name.text)\"" }
}

/// The description of an item, which is available without unlocking it.
public struct VaultItem: Sendable, Hashable, Codable {
    /// The identity of the item.
    public let id: ItemID
    /// The access control of the item.
    public let access: AccessControl
    /// The time when the item was created.
    public let createdAt: Date
    /// The state of the item according to the database; only the TPM decides whether the item can be unlocked.
    public let standing: Standing

    /// The state of an item.
    public enum Standing: String, Sendable, Hashable, Codable {
        /// As far as is known, the item can be unlocked.
        case valid
        /// The item is lost: fingers were added or removed after it was bound to the set, and nothing else unlocks it.
        ///
        /// The TPM has confirmed this, because the value of the profile's finger counter is different.
        case enrollmentChanged
        /// The item may still be usable, but the TPM could not be reached or has lost the item's counter.
        case unknown
        /// The item's row was tampered with, or the item belongs to another TPM.
        case tampered
    }

    /// Creates a description of an item.
    public init(id: ItemID, access: AccessControl, createdAt: Date, standing: Standing) {
        self.id = id
        self.access = access
        self.createdAt = createdAt
        self.standing = standing
    }
}

/// A TPM-wrapped secret or key that the caller stores.
///
/// It can be unlocked only on the machine and for the vault where it was created. It does not reveal the
/// secret, only the kind of the item and its access control.
public struct SealedItem: Sendable, Hashable, Codable {
    /// The kind of the item: secret or key, but not an SSH key.
    public let kind: ItemKind
    /// The profile that owns the item.
    public let profile: String
    /// The access control of the item.
    public let access: AccessControl
    /// The public half of a key, in ANSI X9.63 form (0x04, X, Y; 65 bytes); `nil` for a secret.
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

    /// Decodes an item; throws `DecodingError.dataCorrupted` for an SSH key, which a program cannot store itself.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        kind = try members.decode(ItemKind.self, forKey: .kind)
        guard kind != .sshKey else {
            throw DecodingError.dataCorruptedError(forKey: .kind, in: members, debugDescription: "an SSH key")
        }
        profile = try members.decode(String.self, forKey: .profile)
        access = try members.decode(AccessControl.self, forKey: .access)
        publicKey = try members.decodeIfPresent(Data.self, forKey: .publicKey)
        encoded = try members.decode(Data.self, forKey: .encoded)
    }
}

/// Size limits of secrets.
public enum SecretSize {
    /// The allowed size of a secret in bytes: 1 byte to 1 MiB.
    public static let allowed = 1...(1 << 20)
}

/// An item that is unlocked when its access control is met, wherever it is stored.
public enum ProtectedItem: Sendable, Hashable, Codable {
    /// An item in the vault's table, under its name.
    case named(ItemID)
    /// A sealed item that the caller stores.
    case sealed(SealedItem)

    private enum NamedCodingKeys: String, CodingKey { case _0 = "id" }
    private enum SealedCodingKeys: String, CodingKey { case _0 = "item" }
}

/// A request to use an item.
public struct ReleaseRequest: Sendable {
    /// The options for prompting the user.
    ///
    /// The policy is ignored, because the item's access control determines the required proofs. A match within the
    /// reuse window counts as a finger only if ``AccessControl/allowsReuse`` is `true`.
    public var evaluation: EvaluationRequest
    /// The program's own password, for an item that requires one.
    public var applicationPassword: SecretBox?

    /// Creates a request.
    public init(_ evaluation: EvaluationRequest, applicationPassword: SecretBox? = nil) {
        self.evaluation = evaluation
        self.applicationPassword = applicationPassword
    }
}

/// The result of using an item, which exists only if the item's access control was met.
public struct Released<Product: Sendable>: Sendable {
    /// The secret, the signature or the shared secret.
    public let product: Product
    /// The evaluations that authenticated the owner; empty if the item does not require authentication.
    public let evaluations: [Evaluation]

    package init(_ product: Product, after evaluations: [Evaluation]) {
        self.product = product
        self.evaluations = evaluations
    }
}
