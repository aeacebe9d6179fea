// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Passwords in the keychain, each of which takes a finger of those that are enrolled now.
///
/// Once a finger is added or removed they are gone, whoever did it.
struct Safe {
    /// What the keychain answered.
    struct Failure: Error, CustomStringConvertible {
        let status: OSStatus

        var description: String {
            switch status {
            case errSecItemNotFound: "Not in the safe. Entries go when a finger is added or removed."
            case errSecDuplicateItem: "That entry is there already."
            default: SecCopyErrorMessageString(status, nil) as String? ?? "Error \(status)."
            }
        }
    }

    /// Where a password is used.
    struct Entry: Hashable {
        let site: String
        let account: String
    }

    /// One context for all that a run of the program reads: the finger is asked for once.
    private let context: LAContext = {
        let context = LAContext()
        context.localizedReason = "open the safe"
        return context
    }()

    /// Puts a password into the safe; nobody is asked for that.
    func add(_ password: String, for entry: Entry) throws {
        var error: Unmanaged<CFError>?
        let access = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            .biometryCurrentSet,
            &error
        )
        guard let access else {
            throw error.map { $0.takeRetainedValue() as Error } ?? Failure(status: errSecParam)
        }
        var item = query(entry)
        item[kSecAttrAccessControl as String] = access
        item[kSecValueData as String] = Data(password.utf8)
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Reads a password; the finger is asked for.
    func password(for entry: Entry) throws -> String {
        var query = query(entry)
        query[kSecReturnData as String] = true
        query[kSecUseAuthenticationContext as String] = context
        var item: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &item))
        guard let data = item as? Data, let password = String(data: data, encoding: .utf8) else {
            throw Failure(status: errSecDecode)
        }
        return password
    }

    /// What is in the safe; nobody is asked for that.
    func entries() throws -> [Entry] {
        var query = query()
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        var items: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &items)
        if status == errSecItemNotFound { return [] }
        try check(status)
        return (items as? [[String: Any]] ?? []).compactMap { item in
            guard let site = item[kSecAttrServer as String] as? String,
                let account = item[kSecAttrAccount as String] as? String
            else { return nil }
            return Entry(site: site, account: account)
        }
    }

    /// Takes a password out of the safe; nobody is asked for that.
    func remove(_ entry: Entry) throws {
        try check(SecItemDelete(query(entry) as CFDictionary))
    }

    private func query(_ entry: Entry? = nil) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecUseDataProtectionKeychain as String: true,
        ]
        query[kSecAttrServer as String] = entry?.site
        query[kSecAttrAccount as String] = entry?.account
        return query
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}
