// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService

/// Items that the chip opens (``ItemService``), and those that are stored under a name (``NamedItemService``).
enum ItemInterface {
    /// An item that is to be made.
    struct Making: Codable, Sendable {
        let kind: ItemKind
        /// The place of the secret beside the call; `nil` for a key.
        let secret: Int?
        let access: AccessControl
        /// The place of the application's password beside the call.
        let applicationPassword: Int?
    }

    struct Adding: Codable, Sendable {
        let id: ItemID
        let item: Making
    }

    struct Deleting: Codable, Sendable {
        let id: ItemID
        let request: ConsentRequest
    }

    struct Using: Codable, Sendable {
        /// The name of the item; `nil` where the item is brought along.
        let id: ItemID?
        /// The item itself; `nil` where it is named.
        let sealed: AttachedItem?
        let use: ItemUse
        let asking: OwnerInterface.Asking
        let applicationPassword: Int?
    }

    /// The product of an item.
    struct Product: Codable, Sendable {
        /// The place of the secret beside the reply.
        let secret: Int?
        let signature: Signature?
        let evaluations: [Evaluation]
    }

    /// A key that is to be made with the chip's evidence.
    struct Attesting: Codable, Sendable {
        let access: AccessControl
        let credential: ChipCredential
    }

    /// Returns whether this machine has a chip that the user's items can use.
    static let hasChip = ServiceMethod<NoValue, Valued<Bool>>(
        repeatable: "io.whorl.Items.HasChip",
        by: .anyProgram
    )
    static let chipIdentity = ServiceMethod<NoValue, ChipIdentity>(
        "io.whorl.Items.ChipIdentity",
        by: .unconfined
    )
    static let makeAttested = ServiceMethod<Attesting, AttestedKey>(
        "io.whorl.Items.MakeAttested",
        by: .unconfined
    )
    static let make = ServiceMethod<Making, AttachedItem>("io.whorl.Items.Make", by: .anyProgram, taking: 2)
    /// Decodes an item whose bytes lie beside the call.
    static let decode = ServiceMethod<Valued<Int>, AttachedItem>(
        "io.whorl.Items.Decode",
        by: .anyProgram,
        taking: 1
    )
    static let standing = ServiceMethod<Valued<[AttachedItem]>, Valued<[VaultItem.Standing]>>(
        repeatable: "io.whorl.Items.Standing",
        by: .anyProgram,
        taking: 8
    )
    static let use = ServiceMethod<Prompting<Using>, Prompted<Product>>(
        "io.whorl.Items.Use",
        by: .anyProgram,
        taking: 2
    )

    static let prepare = ServiceMethod<NoValue, NoValue>("io.whorl.Items.Prepare", by: .anyProgram)
    static let add = ServiceMethod<Adding, Optionally<SigningKeyPublic>>(
        "io.whorl.Items.Add",
        by: .anyProgram,
        taking: 2
    )
    static let list = ServiceMethod<NoValue, Valued<[VaultItem]>>(
        repeatable: "io.whorl.Items.List",
        by: .anyProgram
    )
    static let access = ServiceMethod<Valued<ItemID>, Valued<AccessControl>>(
        repeatable: "io.whorl.Items.Access",
        by: .anyProgram
    )
    static let publicKey = ServiceMethod<Valued<ItemID>, Valued<SigningKeyPublic>>(
        repeatable: "io.whorl.Items.PublicKey",
        by: .anyProgram
    )
    static let delete = ServiceMethod<Prompting<Deleting>, Prompted<NoValue>>(
        "io.whorl.Items.Delete",
        by: .anyProgram
    )
}
