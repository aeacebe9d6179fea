// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// The settings of the app.
///
/// They are in the keychain, so that a copy of the disk does not reveal them.
struct Settings {
    /// The app's own PIN; `nil` if none has been chosen.
    var pin: String? {
        get { self["pin"].map { String(decoding: $0, as: UTF8.self) } }
        nonmutating set { self["pin"] = newValue.map { Data($0.utf8) } }
    }

    /// The fingers that were enrolled when the PIN was last typed; `nil` if it never was.
    var knownFingers: Data? {
        get { self["fingers"] }
        nonmutating set { self["fingers"] = newValue }
    }

    /// Whether the user wants to unlock this app with a fingerprint.
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
            // Continuing without the setting would be less safe than stopping here.
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
