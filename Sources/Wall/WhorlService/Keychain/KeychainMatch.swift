// SPDX-License-Identifier: Apache-2.0

/// A filter that selects rows of the keychain.
public struct KeychainMatch: Sendable, Hashable, Codable {
    /// The access groups that are searched; those that the program may not use are left out.
    public var groups: [String]
    /// The class.
    public var itemClass: KeychainClass
    /// The number of the only row, if a persistent reference names it.
    public var id: Int64?
    /// The required attributes; a missing attribute equals an empty one.
    public var attributes: [String: AttributeValue] = [:]
    /// The required value of `kSecAttrAccessible`; `nil` for any.
    public var accessible: String?
    /// Whether to select items that may leave the device; `nil` selects both kinds.
    public var isSynchronizable: Bool? = false
    /// The flags of access controls: items that have any of these flags are left out.
    public var leftOutFlags: UInt64 = 0
    /// The numbers of rows to leave out: items that can never be opened again, or that were tampered with.
    public var leftOut: Set<Int64> = []

    /// Selects all items of a class in the given groups.
    public init(_ itemClass: KeychainClass, groups: [String]) {
        self.itemClass = itemClass
        self.groups = groups
    }
}

extension [String] {
    /// Whether one of the texts has the same bytes: Swift's `==` ignores differences of Unicode normalization.
    package func containsBytes(of text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}
