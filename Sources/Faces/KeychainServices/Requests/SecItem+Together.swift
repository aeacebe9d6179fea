// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext

/// Calls for several items, which Apple's keychain does not have: a program that is killed leaves all of a change,
/// or nothing.
package enum SecItemsTogether {
    /// Stores items as ``SecItemAdd(_:_:)`` does, all or none.
    ///
    /// - Parameters:
    ///   - items: The dictionaries of the items; no results are returned.
    ///   - old: A query for items that are deleted if the new ones are stored.
    /// - Returns: The statuses of ``SecItemAdd(_:_:)``.
    package static func add(_ items: [CFDictionary], inPlaceOf old: CFDictionary? = nil) -> OSStatus {
        status { () throws(KeychainError) in
            var requests: [KeychainRequest] = []
            for item in items { requests.append(try KeychainRequest(item, for: .add)) }
            let old = try old.map { old throws(KeychainError) in try KeychainRequest(old, for: .delete) }
            try Keychain(.current).add(requests, inPlaceOf: old)
        }
    }

    /// Deletes all items that match any of the queries, as ``SecItemDelete(_:)`` does.
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
