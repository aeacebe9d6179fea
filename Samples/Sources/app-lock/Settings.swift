// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// What the app keeps: in the keychain, so that none of it can be read from a copy of the disk.
struct Settings {
    /// The app's own PIN; `nil` before one was chosen.
    var pin: String? {
        get { self["pin"].map { String(decoding: $0, as: UTF8.self) } }
        nonmutating set { self["pin"] = newValue.map { Data($0.utf8) } }
    }

    /// The fingers that were enrolled when the PIN was last typed; `nil` before that.
    var knownFingers: Data? {
        get { self["fingers"] }
        nonmutating set { self["fingers"] = newValue }
    }

    /// Whether this person wants to use a finger with this app.
    var usesFingers: Bool {
        get { self["no fingers"] == nil }
        nonmutating set { self["no fingers"] = newValue ? nil : Data() }
    }

    private subscript(account: String) -> Data? {
        get {
            var query = query(account)
            query[kSecReturnData as String] = true
            var item: CFTypeRef?
            guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
            return item as? Data
        }
        nonmutating set {
            SecItemDelete(query(account) as CFDictionary)
            guard let newValue else { return }
            var item = query(account)
            item[kSecValueData as String] = newValue
            item[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            let status = SecItemAdd(item as CFDictionary, nil)
            // Going on without the setting would be less safe than ending here.
            precondition(status == errSecSuccess, "the keychain answered \(status)")
        }
    }

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "app-lock",
            kSecAttrAccount as String: account,
        ]
    }
}
