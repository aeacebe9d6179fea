// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
