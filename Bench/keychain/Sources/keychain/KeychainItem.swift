// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// The same by Apple's calls: a password that asks for nobody.
struct KeychainItem {
    /// What a call answered instead of success.
    struct Failure: Error {
        let status: OSStatus
    }

    func add(_ account: String, _ value: Data) throws {
        try check(SecItemAdd(query(account, [kSecValueData: value]), nil))
    }

    func find(_ account: String) throws -> Data? {
        var item: CFTypeRef?
        try check(SecItemCopyMatching(query(account, [kSecReturnData: true]), &item))
        return item as? Data
    }

    func delete(_ account: String) throws { try check(SecItemDelete(query(account))) }

    private func query(_ account: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: account,
        ]
        query.merge(more) { _, new in new }
        return query as CFDictionary
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}
