// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Secrets and keys that the service stores under a name; ``UseItem`` unlocks them.

extension Operations {
    static let ofNamedItems: [any ServiceOperation.Type] = [
        PrepareVault.self, AddItem.self, ListItems.self, ReadItemAccess.self, ReadPublicKey.self,
        DeleteItem.self,
    ]
}

/// Creates the vault if no state exists, so that errors are reported before the user types a secret.
///
/// Errors: `noChip`, in which case nothing was created; a storage error.
public struct PrepareVault: ServiceOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Items.Prepare"
    public static let rules = OperationRules(change: "prepare the vault", "itemPrepared", by: .anyProgram)

    public init() {}
}

/// Creates and stores an item; returns the public half of a key, or `nil` for a secret.
///
/// Errors: `itemExists`, `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`,
/// `applicationPasswordNeeded`, `noChip`, a storage error, and other errors of the TPM.
public struct AddItem: ServiceOperation, DescribedChange {
    public typealias Reply = Optionally<SigningKeyPublic>
    public static let name = "io.whorl.Items.Add"
    public static let rules = OperationRules(
        change: "add an item",
        "itemAdded",
        by: .anyProgram,
        attaching: .values(2)
    )

    /// The identity of the item, which must be new and match the item's kind.
    public var id: ItemID
    /// The item to create.
    public let item: MakeItem

    public init(_ id: ItemID, _ item: MakeItem) {
        self.id = id
        self.item = item
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(ItemID.self, forKey: .id)
        item = try members.decode(MakeItem.self, forKey: .item)
        // Reject a mismatched kind here: in the engine, it would be a programming error.
        guard id.kind == item.item.kind else {
            throw DecodingError.dataCorruptedError(forKey: .id, in: members, debugDescription: "other kind")
        }
    }

    package var subject: String { id.spoken }
}

/// Lists the profile's items, both secrets and keys, sorted by kind and name.
///
/// The TPM is used only for items that are lost when their set of fingers changes. If the TPM cannot be reached, the
/// state of such an item is `unknown`. Errors: a storage error.
public struct ListItems: ServiceOperation {
    public typealias Reply = Valued<[VaultItem]>
    public static let name = "io.whorl.Items.List"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public init() {}
}

/// Reads the access control of an item without accessing the TPM.
///
/// Errors: `noSuchItem`, `itemTampered`, a storage error.
public struct ReadItemAccess: ServiceOperation {
    public typealias Reply = Valued<AccessControl>
    public static let name = "io.whorl.Items.Access"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public var id: ItemID

    private enum CodingKeys: String, CodingKey { case id = "value" }

    public init(of id: ItemID) { self.id = id }
}

/// Reads the public half of a key without a proof and without accessing the TPM.
///
/// Errors: those of ``ReadItemAccess``.
public struct ReadPublicKey: ServiceOperation {
    public typealias Reply = Valued<SigningKeyPublic>
    public static let name = "io.whorl.Items.PublicKey"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public var id: ItemID

    private enum CodingKeys: String, CodingKey { case id = "value" }

    public init(of id: ItemID) { self.id = id }
}

/// Deletes an item permanently, regardless of its state.
///
/// If the item requires its owner and might still be usable, the owner is prompted first. Errors: the reason why the
/// owner did not consent; `noSuchItem`, a storage error.
public struct DeleteItem: OwnerOperation, DescribedChange {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Items.Delete"
    public static let rules = OperationRules(change: "delete an item", "itemDeleted", by: .anyProgram)

    public var id: ItemID
    public var request: ConsentRequest

    public init(_ id: ItemID, _ request: ConsentRequest) {
        self.id = id
        self.request = request
    }

    package var subject: String { id.spoken }
    public var purpose: String { "delete the \(id.spoken)" }
}
