// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

extension Idiom {
    static let finding = [
        Idiom(.find, "the value as Data") { place in
            try place.add("ada", "v")
            var item: CFTypeRef?
            let query = place.item(
                "ada",
                [
                    kSecReturnData as String: kCFBooleanTrue as Any,
                    kSecMatchLimit as String: kSecMatchLimitOne,
                ]
            )
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
            // swift-format-ignore: NeverForceUnwrap
            try place.expect(item as! Data == Data("v".utf8))
        },
        Idiom(.find, "attributes and value in one dictionary") { place in
            try place.add("ada", "v")
            var item: CFTypeRef?
            let query = place.item(
                "ada",
                [kSecReturnData as String: true, kSecReturnAttributes as String: true]
            )
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
            guard let existing = item as? [String: Any],
                let data = existing[kSecValueData as String] as? Data,
                let account = existing[kSecAttrAccount as String] as? String
            else { return try place.expect(false) }
            try place.expect(String(data: data, encoding: .utf8) == "v" && account == "ada")
        },
        Idiom(.find, "all items of a service") { place in
            for account in ["a", "b", "c"] { try place.add(account, account) }
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service,
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
            ]
            var items: AnyObject?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &items))
            let list = try place.unwrap(items as? [[String: Any]])
            try place.expect(Set(list.compactMap { $0["acct"] as? String }) == ["a", "b", "c"])
        },
        Idiom(.find, "a limit as a number") { place in
            for account in ["a", "b", "c"] { try place.add(account, account) }
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: place.service, kSecMatchLimit: 2,
                kSecReturnData: true,
            ]
            var items: CFTypeRef?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &items))
            try place.expect((items as? [Data])?.count == 2)
        },
        Idiom(.find, "whether an item is there, without a result") { place in
            try place.add("ada", "v")
            try place.expect(SecItemCopyMatching(place.item("ada") as CFDictionary, nil))
            try place.expect(
                SecItemCopyMatching(place.item("bob") as CFDictionary, nil),
                is: errSecItemNotFound
            )
        },
        Idiom(.find, "nothing found leaves the result nil") { place in
            var item: CFTypeRef?
            let query = place.item("ada", [kSecReturnData as String: true])
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item), is: errSecItemNotFound)
            try place.expect(item == nil)
        },
        Idiom(.find, "a pointer of the program's own") { place in
            try place.add("ada", "v")
            var result: AnyObject?
            let query = place.item("ada", [kSecReturnData as String: true])
            let status = withUnsafeMutablePointer(to: &result) {
                SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
            }
            try place.expect(status == noErr && (result as? NSData)?.length == 1)
        },
        Idiom(.find, "a prompt is not allowed, and none is needed") { place in
            try place.add("ada", "v")
            let context = LAContext()
            context.interactionNotAllowed = true
            for more: [String: Any] in [
                [kSecUseAuthenticationContext as String: context],
                [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail],
                [kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip],
            ] {
                let query = place.item("ada", more.merging([kSecReturnData as String: true]) { $1 })
                try place.expect(SecItemCopyMatching(query as CFDictionary, nil))
            }
        },
        Idiom(.find, "items that may leave the device are found where any are asked for") { place in
            let leaving = place.item("ada", [kSecAttrSynchronizable as String: true])
            try place.expect(SecItemAdd(leaving as CFDictionary, nil))
            try place.expect(
                SecItemCopyMatching(place.item("ada") as CFDictionary, nil),
                is: errSecItemNotFound
            )
            let any = place.item("ada", [kSecAttrSynchronizable as String: kSecAttrSynchronizableAny])
            try place.expect(SecItemCopyMatching(any as CFDictionary, nil))
        },
        Idiom(.find, "an identifier under the generic attribute") { place in
            let identifier = Data("org.example.\(place.service)".utf8)
            let whole = place.item("ada", [kSecAttrGeneric as String: identifier])
            try place.expect(SecItemAdd(whole as CFDictionary, nil))
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrGeneric: identifier, kSecReturnAttributes: true,
            ]
            var item: CFTypeRef?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
            try place.expect((item as? NSDictionary)?[kSecAttrAccount] as? String == "ada")
        },
        Idiom(.find, "the type of a result is asked for by its identifier") { place in
            try place.add("ada", "v")
            var item: CFTypeRef?
            let query = place.item("ada", [kSecReturnData as String: true])
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
            try place.expect(CFGetTypeID(item) == CFDataGetTypeID())
        },
        Idiom(.find, "a prefix that the program filters itself") { place in
            for account in ["mail.a", "mail.b", "web.a"] { try place.add(account, account) }
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: place.service,
                kSecMatchLimit as String: kSecMatchLimitAll,
                kSecReturnAttributes as String: kCFBooleanTrue as Any,
            ]
            var items: AnyObject?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &items))
            let names = (items as? [NSDictionary] ?? []).compactMap { $0[kSecAttrAccount] as? String }
            try place.expect(names.filter { $0.hasPrefix("mail.") }.count == 2)
        },
    ]
}
