// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an item is.
public enum ItemKind: String, Sendable, Hashable, CaseIterable {
    /// Bytes that the chip gives back.
    case secret
    /// A P-256 key that signs inside the chip and never leaves it.
    case key
}

/// Which item: a profile has one of each kind and name.
public struct ItemID: Sendable, Hashable {
    /// Whose item.
    public let profile: String
    /// Secret or key.
    public let kind: ItemKind
    /// Its name.
    public let name: ItemName

    /// Names an item; nothing is looked up.
    public init(_ kind: ItemKind, _ name: ItemName, of profile: String) {
        self.profile = profile
        self.kind = kind
        self.name = name
    }

    /// As people read it: `secret "wifi"`.
    public var spoken: String { "\(kind.rawValue) \"\(name.text)\"" }
}

/// What may be told of an item without opening it.
public struct VaultItem: Sendable, Hashable {
    /// Which item.
    public let id: ItemID
    /// What opens it.
    public let access: AccessControl
    /// When it was made.
    public let createdAt: Date
    /// Whether its access control can still be met, as far as the database knows; the chip has the last word.
    public let standing: Standing

    /// How an item stands.
    public enum Standing: String, Sendable, Hashable {
        /// Nothing speaks against it.
        case valid
        /// A finger was added or removed since it was bound to the set, and it has no other way; it never opens again.
        ///
        /// The chip has said so: the counter of the profile's fingers was read, and has another value.
        case enrollmentChanged
        /// The chip could not be asked, or has lost the counter that the item is bound to; the item may open.
        case unknown
        /// Its row was changed from outside, or it belongs to another chip.
        case tampered
    }
}
