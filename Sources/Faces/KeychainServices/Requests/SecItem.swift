// SPDX-License-Identifier: Apache-2.0

internal import WhorlService
internal import WhorlContext

// The four functions block only the calling thread while the owner is prompted. They may be called from any thread, but
// not from a prompt presenter. The dictionaries are Apple's; Docs/Keychain.md lists the differences.

/// Stores an item.
///
/// This function never prompts, even if the item is protected.
///
/// - Parameters:
///   - attributes: The class, attributes, value and protection of the item, and the requested kinds of result.
///   - result: Receives the requested result (`kSecReturn…`). Pass `nil` if no result is needed.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` if an item of the same class with the same identifying attributes
///   already exists; `errSecNotAvailable` if the item cannot be protected; `errSecDataNotAvailable`,
///   `errSecInvalidKeyRef` or `errSecUnimplemented` if `result` cannot be returned. Other possible statuses are
///   `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecAuthFailed`, `errSecDiskFull` and
///   `errSecIO`. If the call fails, nothing is stored.
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

/// Finds items and returns the requested results.
///
/// Requesting the value of a protected item prompts the owner, using the context in the query or, if the query does not
/// contain one, a new context for this call.
///
/// - Parameters:
///   - query: The class, the attributes to match, the maximum number of items, and the requested kinds of result.
///   - result: Receives the result. Pass `nil` to check only whether items exist.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if no item matches, or if the item can never be opened again;
///   `errSecUserCanceled`, `errSecInteractionNotAllowed` or `errSecAuthFailed` if the owner was not recognized. Other
///   possible statuses are `errSecParam`, `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecNotAvailable` and
///   `errSecIO`.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    status { () throws(KeychainError) in
        var request = try KeychainRequest(query, for: .copy)
        // The owner is not prompted for a result that the caller does not receive.
        if result == nil { request.returns = [] }
        let object = try Keychain(.current).copyMatching(request)
        result?.pointee = object
    }
}

/// Changes all items that match a query.
///
/// Changing a protected item prompts the owner, just as reading it does. Changing a key in the TPM does not prompt,
/// because its access control protects only its use.
///
/// - Parameters:
///   - query: The class, and the attributes to match.
///   - attributesToUpdate: The new attributes, value and protection.
/// - Returns: The statuses of ``SecItemCopyMatching(_:_:)``; also `errSecDuplicateItem` if two items would have the
///   same identifying attributes, and `errSecDecode` if the new value of a certificate is not a certificate. If the
///   call fails, no item is changed.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let request = try KeychainRequest(query, for: .select)
        let change = try KeychainRequest(attributesToUpdate, for: .change, of: request.itemClass)
        guard !change.changesNothing else { throw KeychainError(errSecParam) }
        try Keychain(.current).update(request, change)
    }
}

/// Deletes all items that match a query, without prompting the owner.
///
/// - Parameter query: The class, and the attributes to match.
/// - Returns: `errSecSuccess`, or `errSecItemNotFound` if no item matches. Other possible statuses are `errSecParam`,
///   `errSecNoSuchAttr`, `errSecMissingEntitlement`, `errSecNotAvailable` and `errSecIO`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        try Keychain(.current).delete([try KeychainRequest(query, for: .delete)])
    }
}

/// Performs a call and returns its status.
func status(_ body: () throws(KeychainError) -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// Calls that handle several items together, which Apple's keychain does not offer.
///
/// Each call takes effect completely or not at all, even if the program is killed.
package enum SecItemBatch {
    /// Stores items in the same way as ``SecItemAdd(_:_:)``, either all of them or none.
    ///
    /// - Parameters:
    ///   - items: The dictionaries of the items. The call does not return any results.
    ///   - old: A query for items to delete if the new items are stored.
    /// - Returns: The statuses of ``SecItemAdd(_:_:)``.
    package static func add(_ items: [CFDictionary], inPlaceOf old: CFDictionary? = nil) -> OSStatus {
        status { () throws(KeychainError) in
            var requests: [KeychainRequest] = []
            for item in items { requests.append(try KeychainRequest(item, for: .add)) }
            let old = try old.map { old throws(KeychainError) in try KeychainRequest(old, for: .delete) }
            try Keychain(.current).add(requests, inPlaceOf: old)
        }
    }

    /// Deletes all items that match any of the queries, in the same way as ``SecItemDelete(_:)``.
    ///
    /// - Returns: The statuses of ``SecItemDelete(_:)``.
    package static func delete(_ queries: [CFDictionary]) -> OSStatus {
        status { () throws(KeychainError) in
            var requests: [KeychainRequest] = []
            for query in queries { requests.append(try KeychainRequest(query, for: .delete)) }
            try Keychain(.current).delete(requests)
        }
    }
}
