// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The keychain items of all programs, for the user who wants to know what is stored.

extension Operations {
    static let ofProgramItems: [any ServiceOperation.Type] = [ListProgramItems.self, DeleteProgramItem.self]
}

/// Prompts for a finger or the passcode, and lists the keychain items of all programs, without their values.
///
/// A program knows only its own access groups; this operation names those of others, so it requires the owner at this
/// machine. Errors: the reason why the owner was not authenticated; a storage error.
public struct ListProgramItems: OwnerOperation {
    public typealias Reply = ProgramItems
    public static let name = "io.whorl.Items.ListOfPrograms"
    public static let rules = OperationRules(.once, by: .unconfinedAtReader)

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    public var purpose: String { "list the items of all programs" }
}

/// Deletes a keychain item of any program, if it is still at this version.
///
/// There is no prompt: only a program that has read or listed the item knows its version. Errors: `noSuchItem` if it is
/// not, a storage error.
public struct DeleteProgramItem: ServiceOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Items.DeleteOfProgram"
    public static let rules = OperationRules(
        change: "delete a keychain item",
        "keychainItemDeleted",
        by: .unconfined
    )

    /// The version that ``ListProgramItems`` returned.
    public let version: KeychainRowVersion

    private enum CodingKeys: String, CodingKey { case version = "value" }

    public init(_ version: KeychainRowVersion) { self.version = version }
}

/// The keychain items of all programs.
public struct ProgramItems: Codable, Sendable, Hashable {
    /// The items of one access group.
    public struct Program: Codable, Sendable, Hashable {
        /// The access group, which identifies the program.
        public let accessGroup: String
        /// The items, oldest first.
        public let items: [Item]

        package init(accessGroup: String, items: [Item]) {
            self.accessGroup = accessGroup
            self.items = items
        }
    }

    /// A keychain item.
    public struct Item: Codable, Sendable, Hashable {
        /// The version of the row, by which it can be deleted.
        public let version: KeychainRowVersion
        public let kind: KeychainItemKind
        /// The name that the program gave the item, in at most 200 characters that are safe to display.
        public let name: String
        /// Whether a finger or a passcode unlocks the item.
        public let needsOwner: Bool

        package init(version: KeychainRowVersion, kind: KeychainItemKind, name: String, needsOwner: Bool) {
            self.version = version
            self.kind = kind
            self.name = name
            self.needsOwner = needsOwner
        }
    }

    /// The programs, in the order of their access groups.
    public let programs: [Program]
    /// The number of items that are not listed, because they were tampered with or are too many for one reply.
    public let omitted: Int

    package init(programs: [Program], omitted: Int) {
        self.programs = programs
        self.omitted = omitted
    }
}
