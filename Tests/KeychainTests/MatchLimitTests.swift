// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// The limit of a query that deletes or changes.
@Suite struct `A limit where something is deleted or changed` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private func mail(_ more: [CFString: Any]) -> CFDictionary {
        let mail: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]
        return mail.merging(more) { $1 } as CFDictionary
    }

    private func add(_ accounts: String...) {
        for account in accounts {
            #expect(SecItemAdd(generic(account, [kSecValueData: Data(account.utf8)]), nil) == errSecSuccess)
        }
    }

    /// The values of all items of the service, by account.
    private func values() -> [String: String] {
        let query = mail([
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
        ])
        let items = find(query).object as? [[String: Any]] ?? []
        var values: [String: String] = [:]
        for item in items {
            guard let account = item["acct"] as? String, let data = item["v_Data"] as? Data else { continue }
            values[account] = String(decoding: data, as: UTF8.self)
        }
        return values
    }

    /// The account of the item that a search with a limit of one finds.
    private func firstFound() throws -> String {
        let item = find(mail([kSecMatchLimit: kSecMatchLimitOne, kSecReturnAttributes: true])).object
        return try #require((item as? [String: Any])?["acct"] as? String)
    }

    @Test func `of one deletes the item that a search finds, and no other`() throws {
        try bench.run {
            add("a", "b", "c")
            for left in [2, 1, 0] {
                let account = try firstFound()
                #expect(SecItemDelete(mail([kSecMatchLimit: kSecMatchLimitOne])) == errSecSuccess)
                #expect(values().count == left && values()[account] == nil)
            }
            #expect(SecItemDelete(mail([kSecMatchLimit: kSecMatchLimitOne])) == errSecItemNotFound)
        }
    }

    @Test func `of one changes the item that a search finds, and no other`() throws {
        try bench.run {
            add("a", "b")
            let account = try firstFound()
            let change = [kSecValueData: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(mail([kSecMatchLimit: kSecMatchLimitOne]), change) == errSecSuccess)
            #expect(values() == ["a": "a", "b": "b"].merging([account: "new"]) { $1 })
        }
    }

    @Test func `of a number deletes and changes as many items, and one of all deletes and changes all`() {
        bench.run {
            add("a", "b", "c")
            let change = [kSecValueData: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(mail([kSecMatchLimit: 2]), change) == errSecSuccess)
            #expect(values().values.sorted().filter { $0 == "new" }.count == 2)
            #expect(SecItemUpdate(mail([kSecMatchLimit: kSecMatchLimitAll]), change) == errSecSuccess)
            #expect(values().values.allSatisfy { $0 == "new" })
            #expect(SecItemDelete(mail([kSecMatchLimit: 2])) == errSecSuccess)
            #expect(values().count == 1)
            add("d")
            #expect(SecItemDelete(mail([kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
            #expect(values().isEmpty)
        }
    }

    @Test func `of one changes a guarded item after one prompt, and asks for no other`() throws {
        bench.run {
            for account in ["a", "b"] {
                let item: [CFString: Any] = [
                    kSecValueData: Data(account.utf8), kSecAttrAccessControl: control(.biometryAny),
                ]
                #expect(SecItemAdd(generic(account, item), nil) == errSecSuccess)
            }
            let change = [kSecValueData: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(mail([kSecMatchLimit: kSecMatchLimitOne]), change) == errSecSuccess)
            #expect(bench.chip.prompts.count == 1)
            #expect(values().values.sorted().filter { $0 == "new" }.count == 1)
        }
    }

    @Test func `of one deletes an item that opens before one that can never be opened again`() throws {
        bench.run {
            let item: [CFString: Any] = [
                kSecValueData: Data("x".utf8), kSecAttrAccessControl: control(.biometryCurrentSet),
            ]
            for account in ["a", "c"] {
                #expect(SecItemAdd(generic(account, item), nil) == errSecSuccess)
            }
            bench.chip.addFinger()
            add("b")
            let one = mail([kSecMatchLimit: kSecMatchLimitOne])
            #expect(SecItemDelete(one) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("b"), nil) == errSecItemNotFound)
            #expect(SecItemDelete(one) == errSecSuccess, "the items that can never be opened again are left")
            #expect(SecItemDelete(one) == errSecSuccess)
            #expect(SecItemDelete(one) == errSecItemNotFound)
        }
    }

    @Test(arguments: [true, false]) func `is refused where the data protection keychain is requested`(
        _ isObject: Bool
    ) {
        bench.run {
            add("a", "b")
            let requested: Any = isObject ? kCFBooleanTrue as Any : true
            let change = [kSecAttrLabel: "x"] as CFDictionary
            for limit in [kSecMatchLimitOne as Any, 1, 2] {
                let query = mail([kSecMatchLimit: limit, kSecUseDataProtectionKeychain: requested])
                #expect(SecItemDelete(query) == errSecParam)
                #expect(SecItemUpdate(query, change) == errSecParam)
            }
            let all = mail([kSecMatchLimit: kSecMatchLimitAll, kSecUseDataProtectionKeychain: requested])
            #expect(SecItemUpdate(all, change) == errSecParam)
            #expect(values().count == 2)
            #expect(SecItemDelete(all) == errSecSuccess)
            #expect(values().isEmpty)
        }
    }

    @Test func `is taken where a program says that it does not request the data protection keychain`() {
        bench.run {
            add("a", "b")
            for refusal in [false, kCFBooleanFalse as Any] {
                let query = mail([
                    kSecMatchLimit: kSecMatchLimitOne, kSecUseDataProtectionKeychain: refusal,
                ])
                #expect(SecItemDelete(query) == errSecSuccess)
            }
            #expect(values().isEmpty)
        }
    }
}
