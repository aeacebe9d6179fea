// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlService
import WhorlSupport

/// The keychain items in a user's own directory that can be moved to the system service, and those that cannot.
///
/// The plan is made before any item is moved.
struct KeychainMigrationPlan: Sendable {
    /// An item in the user's own directory, without its value.
    struct Own: Sendable {
        let row: KeychainRow
        /// The state of the value, as far as it can be determined without prompting the owner.
        let standing: VaultItem.Standing
    }

    /// Facts about the service that an item's access control may depend on.
    struct Conditions: Sendable {
        var hasPasscode: Bool
        var hasFingers: Bool
    }

    /// The items to move: first those that do not prompt, then those that require the owner.
    private(set) var moves: [KeychainRow] = []
    /// The items that already exist in the service, which are left unchanged.
    private(set) var there: [KeychainItemName] = []
    /// The items that cannot be moved.
    private(set) var rests: [MigrationPlan.Rest] = []

    /// Creates the plan.
    ///
    /// - Parameters:
    ///   - own: The items in the user's own directory.
    ///   - unreadable: The number of rows in that directory that programs cannot find because they were tampered with.
    ///   - service: The user's items in the service, in the same access groups.
    ///   - conditions: The conditions in the service.
    init(own: [Own], unreadable: Int, service: [KeychainRow], conditions: Conditions) {
        let taken = Set(service.map { PrimaryKey($0.record) })
        var protected: [KeychainRow] = []
        for item in own {
            let row = item.row
            if let rest = MigrationPlan.Rest(notOutside: row) {
                rests.append(rest)
            } else if taken.contains(PrimaryKey(row.record)) {
                there.append(KeychainItemName(row.record))
            } else if let rest = MigrationPlan.Rest(item, conditions) {
                rests.append(rest)
            } else if row.contents.item == nil {
                moves.append(row)
            } else {
                protected.append(row)
            }
        }
        moves += protected
        if unreadable > 0 { rests.append(.unreadable(unreadable)) }
    }
}

/// The attributes that identify an item in a keychain.
private struct PrimaryKey: Hashable {
    private let itemClass: KeychainClass
    private let group: Data
    private let isSynchronizable: Bool
    private let values: [Data]

    init(_ record: KeychainRecord) {
        itemClass = record.itemClass
        group = Data(record.accessGroup.utf8)
        isSynchronizable = record.isSynchronizable
        values = record.itemClass.identifying.map { name in
            // A missing attribute equals an empty one.
            record.attributes[name].flatMap { $0.isDefault ? nil : $0 }?.encoded ?? Data()
        }
    }
}

extension MigrationPlan.Rest {
    /// Creates the entry for an item that is bound to an object in its TPM or can only be used with one; `nil` for any
    /// other item.
    fileprivate init?(notOutside row: KeychainRow) {
        let name = KeychainItemName(row.record)
        let service = row.record.itemClass == .genericPassword ? row.record.words("svce") : nil
        if let service, service.hasPrefix("whorl login ") || service == "whorl biometric keys" {
            self.init(
                kind: "login",
                name: name.whole,
                reason: "its key is bound to this directory and cannot be moved",
                remedy: "whorl login enable"
            )
        } else if service == "whorl.right" {
            self.init(
                kind: "saved right",
                name: name.whole,
                reason: "its key is bound to this directory and cannot be moved",
                remedy: "save it again from its program"
            )
        } else if row.contents.item?.kind == .key {
            self.init(
                kind: "keychain key",
                name: name.whole,
                reason: "the private key is bound to this directory and cannot be moved",
                remedy: "create a new one in its program, and distribute its public key"
            )
        } else {
            return nil
        }
    }

    /// Creates the entry for an item that cannot be moved now or at all; `nil` for one that can.
    fileprivate init?(_ item: KeychainMigrationPlan.Own, _ conditions: KeychainMigrationPlan.Conditions) {
        let access = item.row.contents.item?.access ?? .none
        let again = "save it again from its program"
        let (reason, remedy): (String, String)
        if item.standing == .enrollmentChanged {
            (reason, remedy) = ("it is unusable, because the enrolled fingers changed", again)
        } else if item.standing == .tampered {
            (reason, remedy) = ("it was tampered with", again)
        } else if access.needsApplicationPassword {
            (reason, remedy) = ("it has its own password", again)
        } else if !conditions.hasPasscode, access.takesPasscode || item.row.record.accessible == "akpu" {
            (reason, remedy) = (
                "it requires a passcode, and none is set in the service", "whorl passcode set"
            )
        } else if !conditions.hasFingers, access.isBoundToCurrentSet {
            (reason, remedy) = (
                "it is bound to your fingers, and none is enrolled in the service", "whorl enroll"
            )
        } else {
            return nil
        }
        let name = KeychainItemName(item.row.record)
        self.init(kind: "keychain \(name.kind)", name: name.whole, reason: reason, remedy: remedy)
    }

    fileprivate static func unreadable(_ count: Int) -> Self {
        Self(
            kind: "number of keychain items",
            name: "\(count)",
            reason: "they were tampered with, so no program can find them",
            remedy: "save them again from their programs"
        )
    }
}

extension KeychainItemName {
    var json: JSONValue { ["kind": .string(kind.rawValue), "group": .string(group), "name": .string(text)] }
}
