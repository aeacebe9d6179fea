// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

@Suite struct `Access groups and persistent references` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    @Test func `a program sees its own items only`() {
        bench.run { #expect(SecItemAdd(generic("a"), nil) == errSecSuccess) }
        bench.run(as: "org.example.other") {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecItemNotFound)
            #expect(SecItemUpdate(generic("a"), ["labl": "x"] as CFDictionary) == errSecItemNotFound)
            #expect(SecItemDelete(generic("a")) == errSecItemNotFound)
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess, "no duplicate of another program's")
        }
    }

    @Test func `a shared group is seen by the programs that have it`() {
        bench.run(as: "one", groups: ["team"]) {
            #expect(SecItemAdd(generic("a", [kSecAttrAccessGroup: "team"]), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess, "its own group is another one")
        }
        bench.run(as: "two", groups: ["team"]) {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess)
            #expect(
                SecItemCopyMatching(generic("a", [kSecAttrAccessGroup: "two"]), nil) == errSecItemNotFound
            )
            #expect(
                SecItemCopyMatching(generic("a", [kSecAttrAccessGroup: "one"]), nil)
                    == errSecMissingEntitlement
            )
        }
        bench.run(as: "three") {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecItemNotFound)
            let query = generic("a", [kSecAttrAccessGroup: "team"])
            #expect(SecItemCopyMatching(query, nil) == errSecMissingEntitlement)
        }
    }

    @Test func `an item moves to another group of its program only`() {
        bench.run(as: "one", groups: ["team"]) {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            let away = [kSecAttrAccessGroup: "elsewhere"] as CFDictionary
            #expect(SecItemUpdate(generic("a"), away) == errSecMissingEntitlement)
            #expect(
                SecItemUpdate(generic("a"), [kSecAttrAccessGroup: "team"] as CFDictionary) == errSecSuccess
            )
        }
        bench.run(as: "two", groups: ["team"]) {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess)
        }
    }

    @Test func `two groups that only look alike are two`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let reference = bench.run(as: composed) {
            let other = generic("a", [kSecAttrAccessGroup: decomposed])
            #expect(SecItemAdd(other, nil) == errSecMissingEntitlement)
            #expect(SecItemCopyMatching(other, nil) == errSecMissingEntitlement)
            let own = generic("a", [kSecAttrAccessGroup: composed, kSecReturnPersistentRef: true])
            var object: CFTypeRef?
            #expect(SecItemAdd(own, &object) == errSecSuccess)
            return object as? Data
        }
        let named = [kSecValuePersistentRef: try #require(reference)] as CFDictionary
        bench.run(as: composed) { #expect(SecItemCopyMatching(named, nil) == errSecSuccess) }
        bench.run(as: decomposed) { #expect(SecItemCopyMatching(named, nil) == errSecItemNotFound) }
    }

    @Test func `a persistent reference stays with its item, and is nothing to other programs`() throws {
        let reference = try bench.run {
            let more: [CFString: Any] = [
                kSecAttrSynchronizable: true, kSecReturnPersistentRef: true, kSecValueData: Data([7]),
            ]
            var object: CFTypeRef?
            #expect(SecItemAdd(generic("a", more), &object) == errSecSuccess)
            let reference = try #require(object as? Data)
            let all = generic("a", [kSecAttrSynchronizable: true])
            #expect(SecItemUpdate(all, [kSecAttrAccount: "b"] as CFDictionary) == errSecSuccess)
            let query: [CFString: Any] = [kSecValuePersistentRef: reference, kSecReturnData: true]
            #expect(find(query as CFDictionary).object as? Data == Data([7]))
            return reference
        }
        let named = [kSecValuePersistentRef: reference] as CFDictionary
        bench.run(as: "org.example.other") {
            #expect(SecItemCopyMatching(named, nil) == errSecItemNotFound)
            #expect(SecItemDelete(named) == errSecItemNotFound)
        }
        bench.run {
            #expect(SecItemUpdate(named, [kSecAttrLabel: "by reference"] as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(named) == errSecSuccess)
            #expect(SecItemCopyMatching(named, nil) == errSecItemNotFound)
            #expect(SecItemAdd(generic("b"), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(named, nil) == errSecItemNotFound, "a new item is another one")
        }
    }
}
