// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// Passwords in the keychain.
///
/// Reading one requires a currently enrolled finger.
///
/// When a finger is added or removed, all passwords become permanently unreadable.
struct Safe {
    /// An error status of the keychain.
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

    /// The site and account of a password.
    struct Entry: Hashable {
        let site: String
        let account: String
    }

    /// One context for everything that a run of the program reads, so that it prompts only once.
    private let context: LAContext = {
        let context = LAContext()
        context.localizedReason = "open the safe"
        return context
    }()

    /// Adds a password to the safe, without prompting.
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

    /// Returns a password.
    ///
    /// Prompts for a finger.
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

    /// Returns the entries in the safe, without prompting.
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

    /// Removes a password from the safe, without prompting.
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
