// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext

// The four functions block their caller, and nobody else, while the owner is asked. They may be called from any thread,
// but not from a prompt presenter. The dictionaries are Apple's; Docs/Keychain.md says what differs.

/// Stores an item.
///
/// Nobody is asked, whatever opens the item.
///
/// - Parameters:
///   - attributes: Class, attributes, value, protection, and what `result` shall be.
///   - result: Where to leave what was asked for (`kSecReturn…`); `nil` when nothing is wanted.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` where there is an item of the same class with the same identifying
///   attributes; `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`; `errSecNotAvailable` where nothing could
///   guard the item; `errSecDataNotAvailable`, `errSecInvalidKeyRef`, `errSecUnimplemented` where `result` cannot be given;
///   `errSecAuthFailed`, `errSecDiskFull`, `errSecIO`. After a failure nothing is stored.
@discardableResult
public func SecItemAdd(
    _ attributes: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    status { () throws(KeychainError) in
        var request = try KeychainRequest(attributes, for: .add)
        if result == nil { request.returns = [] }
        let object = try Keychain(.current).add(request)
        if let object { result?.pointee = object }
    }
}

/// Finds items, and gives what is asked for of them.
///
/// Where a value is asked for that somebody must be recognised for, the owner is asked, on the context of the query or on one
/// of the call's own.
///
/// - Parameters:
///   - query: Class, attributes that the items have, how many, and what `result` shall be.
///   - result: Where to leave it; `nil` when only the existence counts.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`, also for an item that can never be opened again;
///   `errSecUserCanceled`, `errSecInteractionNotAllowed`, `errSecAuthFailed` where the owner was not recognised;
///   `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecNotAvailable`, `errSecIO`.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    status { () throws(KeychainError) in
        var request = try KeychainRequest(query, for: .copy)
        // Nobody is asked for what nobody takes.
        if result == nil { request.returns = [] }
        let object = try Keychain(.current).copyMatching(request)
        result?.pointee = object
    }
}

/// Changes all items that a query means.
///
/// For an item that somebody must be recognised for, the owner is asked as for reading. For a key of the chip nobody is:
/// its access control guards the use of it, which no change touches.
///
/// - Parameters:
///   - query: Class, and attributes that the items have.
///   - attributesToUpdate: What they get: attributes, value, protection.
/// - Returns: As ``SecItemCopyMatching(_:_:)``; `errSecDuplicateItem` where two items would be the same; `errSecDecode` for a
///   certificate's value that is none. After a failure no item is changed.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let request = try KeychainRequest(query, for: .select)
        let change = try KeychainRequest(attributesToUpdate, for: .change, of: request.itemClass)
        guard !change.changesNothing else { throw KeychainError(errSecParam) }
        try Keychain(.current).update(request, change)
    }
}

/// Deletes all items that a query means; nobody is asked.
///
/// - Parameter query: Class, and attributes that the items have.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`,
///   `errSecNotAvailable`, `errSecIO`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        try Keychain(.current).delete(try KeychainRequest(query, for: .delete))
    }
}

private func status(_ body: () throws(KeychainError) -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch {
        return error.status
    }
}
