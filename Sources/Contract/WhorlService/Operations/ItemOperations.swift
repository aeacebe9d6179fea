// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FoundationEssentials
public import WhorlSecretMemory

// Items that the TPM protects.
//
// Security does not depend on a decision by the service: the TPM releases nothing unless the access control is met. The
// owner's proof stays in the service.

extension Operations {
    static let ofItems: [any ServiceOperation.Type] = [
        HasChip.self, ReadChipIdentity.self, MakeAttestedKey.self, MakeItem.self, DecodeItem.self,
        CheckItems.self, UseItem.self,
    ]
}

/// Returns whether a TPM is available for this user's items, without creating anything.
public struct HasChip: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Items.HasChip"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public init() {}
}

/// Reads the TPM's identity with a new attestation key, without prompting the owner.
///
/// The TPM's certificate identifies the machine permanently. Errors: `noChip`; `noEndorsement` if the manufacturer has
/// not stored a certificate in the TPM.
public struct ReadChipIdentity: ServiceOperation {
    public typealias Reply = ChipIdentity
    public static let name = "io.whorl.Items.ChipIdentity"
    public static let rules = OperationRules(
        change: "read the TPM's identity",
        "identityRead",
        by: .unconfined
    )

    public init() {}
}

/// Creates a key for the caller to store, with the TPM's statement of how it is protected, without prompting the owner.
///
/// Errors: `credentialRefused` if the credential is for another TPM; those of ``MakeItem``.
public struct MakeAttestedKey: ServiceOperation {
    public typealias Reply = AttestedKey
    public static let name = "io.whorl.Items.MakeAttested"
    public static let rules = OperationRules(change: "make an attested key", "itemMade", by: .unconfined)

    /// The access control that must be met to use the key.
    public let access: AccessControl
    /// A server's credential for this TPM.
    public let credential: ChipCredential

    public init(access: AccessControl, attestedFor credential: ChipCredential) {
        self.access = access
        self.credential = credential
    }
}

/// Creates an item for the caller to store; the service itself does not store it.
///
/// The item is unlocked only when its access control is met. Errors: `noChip` if there is no TPM; `passcodeNeeded`,
/// `enrollmentChanged` and others if the access control cannot be met.
public struct MakeItem: ServiceOperation {
    public typealias Reply = AttachedItem
    public static let name = "io.whorl.Items.Make"
    public static let rules = OperationRules(
        change: "seal an item",
        "itemMade",
        by: .anyProgram,
        attaching: .values(2)
    )

    /// A secret of 1 byte to 1 MiB, or a new key.
    public let item: NewItem
    /// The access control that must be met to use the item; it cannot be changed later.
    public let access: AccessControl
    /// The program's own password, if the access control requires one.
    public let applicationPassword: SecretBox?

    public init(_ item: NewItem, access: AccessControl, applicationPassword: SecretBox?) {
        self.item = item
        self.access = access
        self.applicationPassword = applicationPassword
    }

    private enum CodingKeys: CodingKey { case kind, secret, access, applicationPassword }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        access = try members.decode(AccessControl.self, forKey: .access)
        applicationPassword = try members.decodeIfPresent(SecretBox.self, forKey: .applicationPassword)
        let secret = try members.decodeIfPresent(SecretBox.self, forKey: .secret)
        item =
            switch (try members.decode(ItemKind.self, forKey: .kind), secret) {
            case (.secret, let secret?): .secret(secret)
            case (.key, nil): .key
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .secret,
                    in: members,
                    debugDescription: "the value does not match the kind"
                )
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(applicationPassword, forKey: .applicationPassword)
        if case .secret(let secret) = item { try members.encode(secret, forKey: .secret) }
        try members.encode(item.kind, forKey: .kind)
        try members.encode(access, forKey: .access)
    }
}

/// Decodes an item that the caller stored, without checking whether it can be unlocked.
///
/// Neither the owner nor the TPM is involved. Errors: `itemTampered` for bytes that do not have the form of a sealed
/// item.
public struct DecodeItem: ServiceOperation {
    public typealias Reply = AttachedItem
    public static let name = "io.whorl.Items.Decode"
    public static let rules = OperationRules(.once, by: .anyProgram, attaching: .values(1))

    /// The ``SealedItem/encoded`` bytes of an item that this service created.
    public let encoded: SecretBox

    private enum CodingKeys: String, CodingKey { case encoded = "value" }

    public init(_ encoded: Data) { self.encoded = SecretBox(SecretBytes(copying: encoded.bytes)) }
}

/// Returns the states of sealed items, in the same order, as far as they are known without the owner and the TPM.
///
/// Only the TPM decides whether an item can be unlocked, so an item that is reported as valid may still be refused.
/// Errors: a storage error.
public struct CheckItems: ServiceOperation {
    public typealias Reply = Valued<[VaultItem.Standing]>
    public static let name = "io.whorl.Items.Standing"
    public static let rules = OperationRules(.repeatable, by: .anyProgram, attaching: .values(Self.mostItems))

    /// The maximum number of items in one call to a service in another process, because each may need a descriptor.
    public static let mostItems = 8

    public let items: [AttachedItem]

    private enum CodingKeys: String, CodingKey { case items = "value" }

    public init(_ items: some Sequence<SealedItem>) { self.items = items.map { AttachedItem($0) } }
}

/// Prompts the user for the proof that an item requires, and returns the result that the TPM then releases.
///
/// Errors: the reason why the owner was not authenticated, or why the vault refused the request.
public struct UseItem: OwnerOperation, SessionOperation {
    public typealias Reply = Released<ItemProduct>
    public static let name = "io.whorl.Items.Use"
    public static let rules = OperationRules(.once, by: .anyProgram, attaching: .values(2))

    /// The item, wherever it is stored.
    public var item: ProtectedItem
    /// The way to use the item, which must be possible for its kind.
    public let use: ItemUse
    /// The evaluation that precedes the use.
    private var asking: EvaluatePolicy
    /// The program's own password, if the access control requires one.
    public let applicationPassword: SecretBox?

    public init(_ item: ProtectedItem, for use: ItemUse, _ request: ReleaseRequest) {
        self.item = item
        self.use = use
        asking = EvaluatePolicy(request.evaluation)
        applicationPassword = request.applicationPassword
    }

    private enum CodingKeys: CodingKey { case id, sealed, use, asking, applicationPassword }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let id = try members.decodeIfPresent(ItemID.self, forKey: .id)
        let sealed = try members.decodeIfPresent(AttachedItem.self, forKey: .sealed)
        item =
            switch (id, sealed) {
            case (let id?, nil): .named(id)
            case (nil, let sealed?): .sealed(sealed.item)
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .id,
                    in: members,
                    debugDescription: "needs either a name or an item"
                )
            }
        use = try members.decode(ItemUse.self, forKey: .use)
        asking = try members.decode(EvaluatePolicy.self, forKey: .asking)
        applicationPassword = try members.decodeIfPresent(SecretBox.self, forKey: .applicationPassword)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(applicationPassword, forKey: .applicationPassword)
        switch item {
        case .named(let id): try members.encode(id, forKey: .id)
        case .sealed(let item): try members.encode(AttachedItem(item), forKey: .sealed)
        }
        try members.encode(use, forKey: .use)
        try members.encode(asking, forKey: .asking)
    }

    public var request: EvaluationRequest {
        get { asking.request }
        set { asking.request = newValue }
    }
    public var session: OwnerSession? {
        get { asking.session }
        set { asking.session = newValue }
    }
    package var sessionID: String? {
        get { asking.sessionID }
        set { asking.sessionID = newValue }
    }
    public var purpose: String { asking.purpose }
    /// The request, with the program's password.
    public var release: ReleaseRequest {
        ReleaseRequest(request, applicationPassword: applicationPassword)
    }
}

extension Released: Codable where Product == ItemProduct {
    private enum CodingKeys: CodingKey { case secret, signature, evaluations }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let evaluations = try members.decode([Evaluation].self, forKey: .evaluations)
        if let secret = try members.decodeIfPresent(SecretBox.self, forKey: .secret) {
            self.init(.secret(secret), after: evaluations)
        } else {
            self.init(.signature(try members.decode(Signature.self, forKey: .signature)), after: evaluations)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch product {
        case .secret(let secret): try members.encode(secret, forKey: .secret)
        case .signature(let signature): try members.encode(signature, forKey: .signature)
        }
        try members.encode(evaluations, forKey: .evaluations)
    }
}

/// A sealed item in a message; its bytes are attached separately if they are too large for the message.
public struct AttachedItem: Codable, Sendable {
    /// The maximum size of an item that is part of the message itself, in bytes.
    public static let mostInside = 64 << 10

    public let item: SealedItem

    public init(_ item: SealedItem) { self.item = item }

    private enum CodingKeys: CodingKey { case item, bytes }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let item = try members.decode(SealedItem.self, forKey: .item)
        let bytes = try members.decodeIfPresent(SecretBox.self, forKey: .bytes)
        self.item = bytes.map { item.with($0.bytes.withUnsafeBytes { Data($0) }) } ?? item
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        let isLarge = item.encoded.count > Self.mostInside
        try members.encode(isLarge ? item.bare : item, forKey: .item)
        if isLarge {
            try members.encode(SecretBox(SecretBytes(copying: item.encoded.bytes)), forKey: .bytes)
        }
    }
}

extension SealedItem {
    /// The item without its bytes.
    public var bare: SealedItem { with(Data()) }

    /// Returns the item with other bytes.
    public func with(_ encoded: Data) -> SealedItem {
        SealedItem(kind: kind, profile: profile, access: access, publicKey: publicKey, encoded: encoded)
    }
}
