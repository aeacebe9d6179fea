// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

/// The ways in which programs save a value a second time.
@Suite struct `Saving idioms` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    @Test func `delete with the whole dictionary, then add, saves as often as one likes`() {
        bench.run {
            for text in ["one", "two", "three"] {
                let whole = generic("a", [kSecValueData: Data(text.utf8)])
                SecItemDelete(whole)
                #expect(SecItemAdd(whole, nil) == errSecSuccess)
                #expect(value("a") == Data(text.utf8))
            }
        }
    }

    @Test func `the whole dictionary deletes an item that had another access control`() {
        bench.run {
            for flags: SecAccessControlCreateFlags in [.biometryAny, .biometryCurrentSet, []] {
                let whole = generic(
                    "a",
                    [kSecValueData: Data("v".utf8), kSecAttrAccessControl: control(flags)]
                )
                SecItemDelete(whole)
                #expect(SecItemAdd(whole, nil) == errSecSuccess)
            }
            #expect(value("a") == Data("v".utf8))
        }
    }

    @Test func `update with the value in the query, and add where there was none`() {
        bench.run {
            for text in ["one", "two"] {
                let whole = generic("a", [kSecValueData: Data(text.utf8)])
                let change = [kSecValueData: Data(text.utf8)] as CFDictionary
                let status = SecItemUpdate(whole, change)
                if status == errSecItemNotFound { #expect(SecItemAdd(whole, nil) == errSecSuccess) }
                #expect(value("a") == Data(text.utf8))
            }
            #expect(value("a") == Data("two".utf8))
        }
    }

    @Test func `a query with a value finds the item whatever its value is`() {
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("one".utf8)]), nil) == errSecSuccess)
            let other = Data("other".utf8)
            #expect(value("a", [kSecValueData: other]) == Data("one".utf8))
            let large = Data(count: (16 << 20) + 1)
            #expect(SecItemCopyMatching(generic("a", [kSecValueData: large]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a", [kSecValueData: "text"]), nil) == errSecParam)
            #expect(SecItemDelete(generic("a", [kSecValueData: other])) == errSecSuccess)
            #expect(value("a") == nil)
        }
    }

    @Test func `add, and where it is there already update with the same dictionary as query`() {
        bench.run {
            for text in ["one", "two"] {
                let whole = generic("a", [kSecValueData: Data(text.utf8), kSecAttrLabel: "label"])
                var status = SecItemAdd(whole, nil)
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(whole, [kSecValueData: Data(text.utf8)] as CFDictionary)
                }
                #expect(status == errSecSuccess)
                #expect(value("a") == Data(text.utf8))
            }
        }
    }

    @Test func `a query that was made for reading deletes`() {
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data([1])]), nil) == errSecSuccess)
            let reading = generic(
                "a",
                [
                    kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true,
                    kSecReturnPersistentRef: true,
                ]
            )
            #expect(SecItemDelete(reading) == errSecSuccess)
            #expect(SecItemDelete(reading) == errSecItemNotFound)
        }
    }

    @Test func `an item for this device only may be called synchronizable, a guarded one may not`() {
        bench.run {
            let leaving: [CFString: Any] = [
                kSecAttrSynchronizable: true,
                kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            ]
            #expect(SecItemAdd(generic("a", leaving), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a", leaving), nil) == errSecSuccess)
            let guarded: [CFString: Any] = [
                kSecAttrSynchronizable: true, kSecAttrAccessControl: control(.userPresence),
            ]
            #expect(SecItemAdd(generic("b", guarded), nil) == errSecParam)
            let change = [kSecAttrAccessControl: control(.userPresence)] as CFDictionary
            #expect(SecItemUpdate(generic("a", leaving), change) == errSecParam)
        }
    }

    @Test func `a number is an account as well, and another one than its text`() {
        bench.run {
            let number = generic("", [kSecAttrAccount: 42, kSecValueData: Data([1])])
            #expect(SecItemAdd(number, nil) == errSecSuccess)
            #expect(SecItemAdd(number, nil) == errSecDuplicateItem)
            #expect(SecItemCopyMatching(generic("42"), nil) == errSecItemNotFound)
            let found = find(generic("", [kSecAttrAccount: 42, kSecReturnAttributes: true])).object
            #expect((found as? [String: Any])?[kSecAttrAccount as String] as? Int == 42)
        }
    }

    @Test func `what lies in the own group comes before the same item in a shared one`() {
        bench.run(groups: ["a.shared", "z.shared"]) {
            for group in ["a.shared", "z.shared", "org.example.app"] {
                let item = generic(
                    "a",
                    [kSecAttrAccessGroup: group, kSecValueData: Data(group.utf8)]
                )
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            #expect(value("a") == Data("org.example.app".utf8))
            let two = find(generic("a", [kSecReturnData: true, kSecMatchLimit: 2])).object as? [Data]
            #expect(two == [Data("org.example.app".utf8), Data("a.shared".utf8)])
            #expect(SecItemDelete(generic("a", [kSecAttrAccessGroup: "org.example.app"])) == errSecSuccess)
            #expect(value("a") == Data("a.shared".utf8))
        }
    }
}
