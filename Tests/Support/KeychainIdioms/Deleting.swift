// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

extension Idiom {
    static let deleting = [
        Idiom(.delete, "one item by its account") { place in
            try place.add("ada", "v")
            try place.expect(SecItemDelete(place.item("ada") as CFDictionary))
            try place.expect(place.value("ada") == nil)
        },
        Idiom(.delete, "the dictionary that the item was added with") { place in
            let whole = place.item(
                "ada",
                [kSecValueData as String: Data("one".utf8), kSecAttrLabel as String: "x"]
            )
            try place.expect(SecItemAdd(whole as CFDictionary, nil))
            try place.expect(SecItemDelete(whole as CFDictionary))
        },
        Idiom(.delete, "delete, whatever it says, then add") { place in
            for text in ["one", "two", "three"] {
                let whole = place.item("ada", [kSecValueData as String: Data(text.utf8)]) as CFDictionary
                SecItemDelete(whole)
                try place.expect(SecItemAdd(whole, nil))
                try place.expect(place.value("ada") == text)
            }
        },
        Idiom(.delete, "all items of a service") { place in
            for account in ["a", "b", "c"] { try place.add(account, account) }
            let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: place.service] as CFDictionary
            try place.expect(SecItemDelete(query))
            try place.expect(SecItemCopyMatching(query, nil), is: errSecItemNotFound)
        },
        Idiom(.delete, "nothing found, which programs take for success") { place in
            let status = SecItemDelete(place.item("ada") as CFDictionary)
            try place.expect(status == errSecSuccess || status == errSecItemNotFound)
            try place.expect(status, is: errSecItemNotFound)
        },
        Idiom(.delete, "a second time") { place in
            try place.add("ada", "v")
            try place.expect(SecItemDelete(place.item("ada") as CFDictionary))
            try place.expect(SecItemDelete(place.item("ada") as CFDictionary), is: errSecItemNotFound)
        },
        Idiom(.delete, "by a persistent reference") { place in
            var result: CFTypeRef?
            let whole = place.item("ada", [kSecReturnPersistentRef as String: true])
            try place.expect(SecItemAdd(whole as CFDictionary, &result))
            let query = [kSecValuePersistentRef: try place.unwrap(result as? Data)] as CFDictionary
            try place.expect(SecItemDelete(query))
            try place.expect(SecItemCopyMatching(query, nil), is: errSecItemNotFound)
        },
        Idiom(.delete, "a query that was made for reading") { place in
            try place.add("ada", "v")
            let reading = place.item(
                "ada",
                [kSecReturnData as String: true, kSecReturnAttributes as String: true]
            )
            try place.expect(SecItemDelete(reading as CFDictionary))
        },
        Idiom(.delete, "a limit of all") { place in
            for account in ["a", "b"] { try place.add(account, account) }
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            try place.expect(SecItemDelete(query as CFDictionary))
            try place.expect(place.value("a") == nil && place.value("b") == nil)
        },
        Idiom(.delete, "a limit of one, as in a query that was made for reading") { place in
            try place.add("ada", "v")
            let reading = place.item(
                "ada",
                [kSecMatchLimit as String: kSecMatchLimitOne, kSecReturnData as String: true]
            )
            try place.expect(SecItemDelete(reading as CFDictionary))
            try place.expect(place.value("ada") == nil)
        },
        Idiom(.delete, "both kinds, those that may leave the device and those that may not") { place in
            try place.add("ada", "v")
            let leaving = place.item("ada", [kSecAttrSynchronizable as String: true])
            try place.expect(SecItemAdd(leaving as CFDictionary, nil))
            let any = place.item("ada", [kSecAttrSynchronizable as String: kSecAttrSynchronizableAny])
            try place.expect(SecItemDelete(any as CFDictionary))
            try place.expect(SecItemCopyMatching(any as CFDictionary, nil), is: errSecItemNotFound)
        },
        Idiom(.delete, "a key by its tag") { place in
            _ = try place.make(place.key(lasting: true))
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: place.tag] as CFDictionary
            try place.expect(SecItemDelete(query))
            try place.expect(SecItemDelete(query), is: errSecItemNotFound)
        },
        Idiom(.delete, "what a list gave, one after the other") { place in
            for account in ["a", "b"] { try place.add(account, account) }
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service,
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var items: CFTypeRef?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &items))
            for var item in try place.unwrap(items as? [[String: Any]]) {
                item[kSecClass as String] = kSecClassGenericPassword
                try place.expect(SecItemDelete(item as CFDictionary))
            }
            try place.expect(SecItemCopyMatching(query as CFDictionary, &items), is: errSecItemNotFound)
        },
    ]
}
