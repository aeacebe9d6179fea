// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

extension Idiom {
    static let updating = [
        Idiom(.update, "the value alone") { place in
            try place.add("ada", "one")
            let change: [String: Any] = [kSecValueData as String: Data("two".utf8)]
            try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, change as CFDictionary))
            try place.expect(place.value("ada") == "two")
        },
        Idiom(.update, "update, and add where nothing is found") { place in
            for text in ["one", "two"] {
                let value = [kSecValueData as String: Data(text.utf8)]
                var status = SecItemUpdate(place.item("ada") as CFDictionary, value as CFDictionary)
                if status == errSecItemNotFound {
                    status = SecItemAdd(place.item("ada", value) as CFDictionary, nil)
                }
                try place.expect(status)
                try place.expect(place.value("ada") == text)
            }
        },
        Idiom(.update, "add, and update where it is a duplicate") { place in
            for text in ["one", "two"] {
                let value = [kSecValueData as String: Data(text.utf8)]
                var status = SecItemAdd(place.item("ada", value) as CFDictionary, nil)
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(place.item("ada", value) as CFDictionary, value as CFDictionary)
                }
                try place.expect(status)
                try place.expect(place.value("ada") == text)
            }
        },
        Idiom(.update, "find first, then update or add") { place in
            for text in ["one", "two"] {
                let value = [kSecValueData: Data(text.utf8)] as CFDictionary
                switch SecItemCopyMatching(place.item("ada") as CFDictionary, nil) {
                case errSecSuccess: try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, value))
                case errSecItemNotFound: try place.add("ada", text)
                case let status: try place.expect(status)
                }
                try place.expect(place.value("ada") == text)
            }
        },
        Idiom(.update, "another account") { place in
            try place.add("ada", "v")
            let change = [kSecAttrAccount: "bob"] as CFDictionary
            try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, change))
            try place.expect(place.value("ada") == nil && place.value("bob") == "v")
        },
        Idiom(.update, "the account of another item is a duplicate, and both stay") { place in
            try place.add("ada", "one")
            try place.add("bob", "two")
            let change = [kSecAttrAccount: "bob"] as CFDictionary
            try place.expect(
                SecItemUpdate(place.item("ada") as CFDictionary, change),
                is: errSecDuplicateItem
            )
            try place.expect(place.value("ada") == "one" && place.value("bob") == "two")
        },
        Idiom(.update, "label and comment") { place in
            try place.add("ada", "v")
            let change: [CFString: Any] = [kSecAttrLabel: "mail of ada", kSecAttrComment: "old"]
            try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, change as CFDictionary))
            let query = place.item("ada", [kSecAttrLabel as String: "mail of ada"])
            try place.expect(SecItemCopyMatching(query as CFDictionary, nil))
        },
        Idiom(.update, "all items of a service at once") { place in
            for account in ["a", "b"] { try place.add(account, account) }
            let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: place.service] as CFDictionary
            try place.expect(
                SecItemUpdate(query, [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary)
            )
            let changed: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock, kSecMatchLimit: kSecMatchLimitAll,
                kSecReturnData: true,
            ]
            var items: CFTypeRef?
            try place.expect(SecItemCopyMatching(changed as CFDictionary, &items))
            try place.expect((items as? [Data])?.count == 2)
        },
        Idiom(.update, "a limit of one") { place in
            try place.add("ada", "v")
            let query = place.item("ada", [kSecMatchLimit as String: kSecMatchLimitOne]) as CFDictionary
            try place.expect(SecItemUpdate(query, [kSecValueData: Data("new".utf8)] as CFDictionary))
            try place.expect(place.value("ada") == "new")
        },
        Idiom(.update, "nothing found") { place in
            let change = [kSecValueData: Data()] as CFDictionary
            try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, change), is: errSecItemNotFound)
        },
        Idiom(.update, "by a persistent reference") { place in
            var result: CFTypeRef?
            let whole = place.item("ada", [kSecReturnPersistentRef as String: true])
            try place.expect(SecItemAdd(whole as CFDictionary, &result))
            let query = [kSecValuePersistentRef: try place.unwrap(result as? Data)] as CFDictionary
            try place.expect(SecItemUpdate(query, [kSecValueData: Data("two".utf8)] as CFDictionary))
            try place.expect(place.value("ada") == "two")
        },
        Idiom(.update, "a change of nothing, and one that names what is no attribute") { place in
            try place.add("ada", "v")
            let query = place.item("ada") as CFDictionary
            try place.expect(SecItemUpdate(query, [:] as CFDictionary), is: errSecParam)
            let wrong = [kSecReturnData: true] as CFDictionary
            try place.expect(SecItemUpdate(query, wrong), is: errSecNoSuchAttr)
            try place.expect(place.value("ada") == "v")
        },
        Idiom(.update, "the date of modification goes on, that of creation stays") { place in
            func dates() throws -> (Date?, Date?) {
                var item: CFTypeRef?
                let query = place.item("ada", [kSecReturnAttributes as String: true])
                try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
                let found = item as? [String: Any]
                return (found?["cdat"] as? Date, found?["mdat"] as? Date)
            }
            try place.add("ada", "v")
            let before = try dates()
            let change = [kSecValueData: Data("w".utf8)] as CFDictionary
            try place.expect(SecItemUpdate(place.item("ada") as CFDictionary, change))
            let after = try dates()
            try place.expect(before.0 == after.0)
            try place.expect(try place.unwrap(before.1) < place.unwrap(after.1))
        },
    ]
}
