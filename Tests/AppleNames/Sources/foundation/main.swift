import Foundation

// On Apple's systems this import alone brings the keychain's names; here the target's settings do (Docs/Porting.md).
let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "foundation",
    kSecValueData as String: Data("v".utf8),
]
let statuses = [
    SecItemAdd(query as CFDictionary, nil), SecItemDelete(query as CFDictionary),
    SecItemDelete(query as CFDictionary),
]
print(statuses)
