// SPDX-License-Identifier: Apache-2.0
// An operation says what it is and does above its type; its members are described by their protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FoundationEssentials
public import WhorlSecretMemory

// Items that the chip opens.
//
// Security does not depend on a verdict of the service: unless the access control is met, the chip releases nothing.
// The proof of what was shown stays in the service.

extension Operations {
    static let ofItems: [any ServiceOperation.Type] = [
        HasChip.self, ReadChipIdentity.self, MakeAttestedKey.self, MakeItem.self, DecodeItem.self,
        CheckItems.self, UseItem.self,
    ]
}

/// Returns whether a chip is available to this user's items; nothing is created.
public struct HasChip: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Items.HasChip"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public init() {}
}

/// Reads the chip's identity, with a new attestation key; the owner is not asked.
///
/// The chip's certificate names the machine for good. Errors: `noChip`; `noEndorsement` if the chip's maker has put no
/// certificate into it.
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

/// Makes a key that the caller stores, and has the chip state how it is protected; the owner is not asked.
///
/// Errors: `credentialRefused` if the credential is for another chip; and as ``MakeItem``.
public struct MakeAttestedKey: ServiceOperation {
    public typealias Reply = AttestedKey
    public static let name = "io.whorl.Items.MakeAttested"
    public static let rules = OperationRules(change: "make an attested key", "itemMade", by: .unconfined)

    /// The access control that must be met to use the key.
    public let access: AccessControl
    /// A server's credential for this chip.
    public let credential: ChipCredential

    public init(access: AccessControl, attestedFor credential: ChipCredential) {
        self.access = access
        self.credential = credential
    }
}

/// Makes an item that the caller stores; the service stores nothing.
///
/// The item opens only when its access control is met. Errors: `noChip` without a chip; `passcodeNeeded`, `enrollmentChanged` and others where the access control cannot be met.
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
    /// The access control that must be met to use the item, and cannot be changed later.
    public let access: AccessControl
    /// The program's own password, where the access control asks for one.
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
                    debugDescription: "does not fit the kind"
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

/// Decodes an item that the caller stored; neither the owner nor a chip is asked, so the item may not open.
///
/// Errors: `itemTampered` for bytes that do not have the form of a sealed item.
public struct DecodeItem: ServiceOperation {
    public typealias Reply = AttachedItem
    public static let name = "io.whorl.Items.Decode"
    public static let rules = OperationRules(.once, by: .anyProgram, attaching: .values(1))

    /// The ``SealedItem/encoded`` bytes of one of this service's items.
    public let encoded: SecretBox

    private enum CodingKeys: String, CodingKey { case encoded = "value" }

    public init(_ encoded: Data) { self.encoded = SecretBox(SecretBytes(copying: encoded.bytes)) }
}

/// Returns the standing of sealed items, in their order, as far as it can be determined without the owner and the chip.
///
/// The chip decides in the end: it may refuse an item that is reported as valid here. Errors: a storage error.
public struct CheckItems: ServiceOperation {
    public typealias Reply = Valued<[VaultItem.Standing]>
    public static let name = "io.whorl.Items.Standing"
    public static let rules = OperationRules(.repeatable, by: .anyProgram, attaching: .values(Self.mostItems))

    /// The most items of one call to a service in another process, as each may need a descriptor.
    public static let mostItems = 8

    public let items: [AttachedItem]

    private enum CodingKeys: String, CodingKey { case items = "value" }

    public init(_ items: some Sequence<SealedItem>) { self.items = items.map { AttachedItem($0) } }
}

/// Asks the person for what an item's access control requires, and is answered with what the chip then releases.
///
/// Errors: the reason why the owner was not recognized, or why the vault refused.
public struct UseItem: OwnerOperation, SessionOperation {
    public typealias Reply = Released<ItemProduct>
    public static let name = "io.whorl.Items.Use"
    public static let rules = OperationRules(.once, by: .anyProgram, attaching: .values(2))

    /// The item, wherever it is stored.
    public var item: ProtectedItem
    /// The use that is made of it, which must fit the kind of the item.
    public let use: ItemUse
    /// The evaluation that comes before it.
    private var asking: EvaluatePolicy
    /// The program's own password, where the access control asks for one.
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

/// A sealed item in a message, whose bytes go beside it where they are too many for one.
public struct AttachedItem: Codable, Sendable {
    /// The most bytes of an item that stand in the message itself.
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
