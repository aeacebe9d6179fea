// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// A password that was added without a value, as on Apple's systems: `handle_result` in SecItemDb.c.
@Suite struct `A password without a value` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private func whole(_ account: String) -> [String: Any]? {
        find(generic(account, [kSecReturnData: true, kSecReturnAttributes: true])).object as? [String: Any]
    }

    @Test func `reads back without the key`() throws {
        try bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            let item = try #require(whole("a"))
            #expect(item["acct"] as? String == "a")
            #expect(!item.keys.contains("v_Data"))
            let both = find(generic("a", [kSecReturnData: true, kSecReturnPersistentRef: true])).object
            #expect((both as? [String: Any]).map { Array($0.keys) } == ["v_PersistentRef"])
        }
    }

    @Test func `has empty data where nothing but data is asked for`() {
        bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            #expect(find(generic("a", [kSecReturnData: true])).object as? Data == Data())
        }
    }

    @Test func `is given without the key where it is added`() throws {
        try bench.run {
            var object: CFTypeRef?
            let item = generic("a", [kSecReturnData: true, kSecReturnAttributes: true])
            #expect(SecItemAdd(item, &object) == errSecSuccess)
            let given = try #require(object as? [String: Any])
            #expect(given["acct"] as? String == "a" && !given.keys.contains("v_Data"))
        }
    }

    @Test func `is not one with an empty value, which has the key`() {
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data()]), nil) == errSecSuccess)
            #expect(whole("a")?["v_Data"] as? Data == Data())
        }
    }

    @Test func `has the key from the change on that gives it a value, and after others has not`() {
        bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            #expect(SecItemUpdate(generic("a"), [kSecAttrLabel: "x"] as CFDictionary) == errSecSuccess)
            #expect(whole("a").map { $0.keys.contains("v_Data") } == false)
            #expect(SecItemUpdate(generic("a"), [kSecValueData: Data()] as CFDictionary) == errSecSuccess)
            #expect(whole("a")?["v_Data"] as? Data == Data())
        }
    }

    @Test func `reads back without the key after its owner was asked, where it is guarded`() {
        bench.run {
            let guarded = [kSecAttrAccessControl: control(.biometryAny)] as [CFString: Any]
            #expect(SecItemAdd(generic("a", guarded), nil) == errSecSuccess)
            #expect(whole("a").map { $0.keys.contains("v_Data") } == false)
            #expect(bench.chip.prompts.count == 1)
            #expect(SecItemUpdate(generic("a"), [kSecValueData: Data([1])] as CFDictionary) == errSecSuccess)
            #expect(whole("a")?["v_Data"] as? Data == Data([1]))
        }
    }
}
