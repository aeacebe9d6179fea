// SPDX-License-Identifier: Apache-2.0

/// The class, attributes and protection of a keychain item: all of its data except the value.
public struct KeychainRecord: Sendable, Hashable, Codable {
    /// The class of the item.
    public let itemClass: KeychainClass
    /// The access group: the programs that may use the item.
    public var accessGroup: String
    /// The times at which the item can be opened: a `kSecAttrAccessible…` value.
    public var accessible: String
    /// The authentication that opening the item requires, as the flags of Apple's access control.
    public var flags: UInt64
    /// Whether the item may leave the device.
    public var isSynchronizable: Bool
    /// All other attributes.
    public var attributes: [String: AttributeValue]

    /// Makes a record.
    public init(
        _ itemClass: KeychainClass,
        accessGroup: String,
        accessible: String,
        flags: UInt64,
        isSynchronizable: Bool,
        attributes: [String: AttributeValue]
    ) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.accessible = accessible
        self.flags = flags
        self.isSynchronizable = isSynchronizable
        self.attributes = attributes
    }
}
