// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychain
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
}
