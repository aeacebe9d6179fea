// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The access control of a record, in Apple's terms.
extension KeychainRecord {
    /// Makes a record.
    package init(
        _ itemClass: KeychainClass,
        accessGroup: String,
        protection: SecAccessControl,
        isSynchronizable: Bool = false,
        attributes: [String: AttributeValue]
    ) {
        self.init(
            itemClass,
            accessGroup: accessGroup,
            accessible: protection.protection,
            flags: UInt64(protection.flags.rawValue),
            isSynchronizable: isSynchronizable,
            attributes: attributes
        )
    }

    /// The access control of the item.
    package var protection: SecAccessControl {
        get {
            let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(flags))
            return SecAccessControl(protection: accessible, flags: flags)
        }
        set {
            accessible = newValue.protection
            flags = UInt64(newValue.flags.rawValue)
        }
    }
}

extension KeychainMatch {
    /// Leaves out items for which the owner must authenticate.
    mutating func leaveOutProtected() {
        leftOutFlags = UInt64(SecAccessControlCreateFlags.protecting.rawValue)
    }
}

extension KeychainRow {
    /// The persistent reference of the item.
    package var reference: PersistentReference { PersistentReference(record.itemClass, id) }
}

extension AttributeValue {
    /// The value as an object for the program.
    var object: AnyObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let data): data as NSData
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSince1970: seconds) as NSDate
        }
    }
}
