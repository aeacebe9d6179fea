// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

extension Idiom {
    static let adding = [
        Idiom(.add, "a dictionary with texts as keys") { place in
            let query =
                [
                    kSecClass as String: kSecClassGenericPassword as String,
                    kSecAttrService as String: place.service,
                    kSecAttrAccount as String: "ada", kSecValueData as String: Data("v".utf8),
                ] as [String: Any]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            try place.expect(place.value("ada") == "v")
        },
        Idiom(.add, "a dictionary with constants as keys") { place in
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service, kSecAttrAccount: "ada",
                kSecValueData: Data("v".utf8), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            try place.expect(place.value("ada") == "v")
        },
        Idiom(.add, "a mutable dictionary that is filled key by key") { place in
            let query = NSMutableDictionary()
            query[kSecClass] = kSecClassGenericPassword
            query[kSecAttrService as String] = place.service
            query.setObject("ada", forKey: kSecAttrAccount)
            query[kSecValueData] = "v".data(using: .utf8)
            try place.expect(SecItemAdd(query, nil))
            try place.expect(place.value("ada") == "v")
        },
        Idiom(.add, "a dictionary of objects") { place in
            let query: [String: AnyObject] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: place.service as NSString,
                kSecAttrAccount as String: "ada" as NSString,
                kSecValueData as String: Data("v".utf8) as NSData,
            ]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            try place.expect(place.value("ada") == "v")
        },
        Idiom(.add, "the same item again is a duplicate, and the first one stays") { place in
            try place.add("ada", "one")
            let again = place.item("ada", [kSecValueData as String: Data("two".utf8)])
            try place.expect(SecItemAdd(again as CFDictionary, nil), is: errSecDuplicateItem)
            try place.expect(place.value("ada") == "one")
        },
        Idiom(.add, "the value is given back") { place in
            var result: CFTypeRef?
            let whole = place.item(
                "ada",
                [kSecValueData as String: Data("v".utf8), kSecReturnData as String: true]
            )
            try place.expect(SecItemAdd(whole as CFDictionary, &result))
            try place.expect(result as? Data == Data("v".utf8))
        },
        Idiom(.add, "attributes are given back, with dates") { place in
            var result: AnyObject?
            let whole = place.item("ada", [kSecReturnAttributes as String: kCFBooleanTrue as Any])
            try place.expect(SecItemAdd(whole as CFDictionary, &result))
            let attributes = try place.unwrap(result as? [String: Any])
            try place.expect(attributes[kSecAttrAccount as String] as? String == "ada")
            try place.expect(attributes[kSecAttrCreationDate as String] is Date)
            try place.expect(attributes[kSecAttrModificationDate as String] is Date)
        },
        Idiom(.add, "a persistent reference is given back, and finds the item") { place in
            var result: CFTypeRef?
            let whole = place.item(
                "ada",
                [kSecValueData as String: Data("v".utf8), kSecReturnPersistentRef as String: true]
            )
            try place.expect(SecItemAdd(whole as CFDictionary, &result))
            let query: [CFString: Any] = [
                kSecValuePersistentRef: try place.unwrap(result as? Data), kSecReturnData: true,
            ]
            var found: CFTypeRef?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &found))
            try place.expect(found as? Data == Data("v".utf8))
        },
        Idiom(.add, "a blob as a key with a tag alone") { place in
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: place.tag, kSecValueData: Data(0...255),
            ]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            try place.expect(SecItemAdd(query as CFDictionary, nil), is: errSecDuplicateItem)
        },
        Idiom(.add, "a key as an object") { place in
            let query: [CFString: Any] = [
                kSecValueRef: try place.make(place.key()), kSecAttrApplicationTag: place.tag,
                kSecAttrLabel: "idiom",
            ]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            try place.expect(SecItemAdd(query as CFDictionary, nil), is: errSecDuplicateItem)
        },
        Idiom(.add, "a password of a server") { place in
            let query: [CFString: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrServer: place.service, kSecAttrAccount: "ada",
                kSecAttrProtocol: kSecAttrProtocolHTTPS, kSecAttrPort: 443, kSecAttrPath: "/",
                kSecAttrAuthenticationType: kSecAttrAuthenticationTypeDefault, kSecValueData: Data("v".utf8),
            ]
            try place.expect(SecItemAdd(query as CFDictionary, nil))
            var other = query
            other[kSecAttrPort] = 8443
            try place.expect(SecItemAdd(other as CFDictionary, nil))
        },
        Idiom(.add, "an empty value, and none") { place in
            try place.add("empty", "")
            try place.expect(SecItemAdd(place.item("none") as CFDictionary, nil))
            try place.expect(place.value("empty") == "" && place.value("none") == "")
        },
        Idiom(.add, "an access control without constraints") { place in
            let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
            let whole = place.item(
                "ada",
                [kSecAttrAccessControl as String: control as Any, kSecValueData as String: Data("v".utf8)]
            )
            try place.expect(SecItemAdd(whole as CFDictionary, nil))
            try place.expect(place.value("ada") == "v")
        },
    ]
}
