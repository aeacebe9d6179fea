// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

@Suite struct `Passwords` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    @Test func `what is added is found, changed and deleted`() {
        bench.run {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecItemNotFound)
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("one".utf8)]), nil) == errSecSuccess)
            #expect(value("a") == Data("one".utf8))
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess)
            let change: [CFString: Any] = [kSecValueData: Data("two".utf8), kSecAttrLabel: "label"]
            #expect(SecItemUpdate(generic("a"), change as CFDictionary) == errSecSuccess)
            #expect(value("a", [kSecAttrLabel: "label"]) == Data("two".utf8))
            #expect(SecItemDelete(generic("a")) == errSecSuccess)
            #expect(SecItemDelete(generic("a")) == errSecItemNotFound)
            #expect(SecItemUpdate(generic("a"), change as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test func `two generic passwords differ in account, service, or whether they may leave`() {
        bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("a", [kSecAttrLabel: "other"]), nil) == errSecDuplicateItem)
            #expect(SecItemAdd(generic("b"), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("a", service: "web"), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("a", [kSecAttrSynchronizable: true]), nil) == errSecSuccess)
            let rename = [kSecAttrAccount: "b"] as CFDictionary
            #expect(SecItemUpdate(generic("a"), rename) == errSecDuplicateItem)
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess, "it is as it was")
        }
    }

    @Test(
        arguments: [
            (kSecAttrAccount, "x" as Any), (kSecAttrSecurityDomain, "x"), (kSecAttrServer, "x"),
            (kSecAttrProtocol, kSecAttrProtocolFTP),
            (kSecAttrAuthenticationType, kSecAttrAuthenticationTypeDPA),
            (kSecAttrPort, 1), (kSecAttrPath, "x"),
        ].map { UncheckedPair($0.0, $0.1) }
    )
    func `two internet passwords differ in any of seven attributes`(_ pair: UncheckedPair) {
        let query: [CFString: Any] = [
            kSecClass: kSecClassInternetPassword, kSecAttrAccount: "a", kSecAttrServer: "example.org",
            kSecAttrProtocol: kSecAttrProtocolHTTPS, kSecAttrPort: 443, kSecAttrPath: "/",
            kSecAttrSecurityDomain: "realm", kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTMLForm,
        ]
        bench.run {
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecDuplicateItem)
            var other = query
            other[kSecAttrComment] = "no difference"
            #expect(SecItemAdd(other as CFDictionary, nil) == errSecDuplicateItem)
            other[pair.key] = pair.value
            #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test func `a missing account is an empty one`() {
        bench.run {
            let none = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"] as CFDictionary
            #expect(SecItemAdd(none, nil) == errSecSuccess)
            #expect(SecItemAdd(generic(""), nil) == errSecDuplicateItem)
            #expect(SecItemCopyMatching(generic(""), nil) == errSecSuccess)
        }
    }

    @Test func `an empty text and empty bytes are the same account`() {
        bench.run {
            #expect(SecItemAdd(generic(""), nil) == errSecSuccess)
            let empty = [kSecAttrAccount: Data()] as [CFString: Any]
            #expect(SecItemCopyMatching(generic("", empty), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("", empty), nil) == errSecDuplicateItem)
        }
    }

    @Test func `an account may be bytes, also such that are no text`() {
        bench.run {
            let broken = Data([0xFF, 0xC3, 0x28])
            let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: broken]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            let all = query.merging([kSecReturnAttributes: true]) { _, new in new }
            let found = find(all as CFDictionary).object as? [String: Any]
            #expect(found?[kSecAttrAccount as String] as? Data == broken)
        }
    }

    @Test func `each way of asking gives what it says`() {
        bench.run {
            for name in ["a", "b", "c"] {
                let item = generic(name, [kSecValueData: Data(name.utf8), kSecAttrComment: "of \(name)"])
                #expect(SecItemAdd(item, nil) == errSecSuccess)
            }
            let one = [kSecReturnData: true, kSecReturnAttributes: true, kSecReturnPersistentRef: true]
            let whole = find(generic("a", one)).object as? [String: Any]
            #expect(whole?[kSecValueData as String] as? Data == Data("a".utf8))
            #expect(whole?[kSecAttrComment as String] as? String == "of a")
            #expect(whole?[kSecAttrAccessible as String] as? String == "ak")
            #expect(whole?[kSecAttrAccessGroup as String] as? String == "org.example.app")
            #expect(whole?[kSecAttrCreationDate as String] as? Date != nil)
            #expect((whole?[kSecValuePersistentRef as String] as? Data)?.count == 12)

            let mail: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]
            func limited(_ limit: Any, _ kind: CFString) -> AnyObject? {
                find(mail.merging([kSecMatchLimit: limit, kind: true]) { $1 } as CFDictionary).object
            }
            let all = limited(kSecMatchLimitAll, kSecReturnAttributes) as? [[String: Any]]
            #expect(all?.compactMap { $0["acct"] as? String } == ["a", "b", "c"])
            #expect((limited(kSecMatchLimitAll, kSecReturnData) as? [Data])?.count == 3)
            #expect((limited(Int.max, kSecReturnData) as? [Data])?.count == 3)
            #expect((limited(2, kSecReturnData) as? [Data])?.count == 2)
            #expect(limited(kSecMatchLimitOne, kSecReturnData) is Data)
            #expect((limited(kSecMatchLimitAll, kSecReturnPersistentRef) as? [Data])?.count == 3)
            #expect(find(mail as CFDictionary).object == nil)
            #expect(find(generic("a", [kSecReturnData: false])).object == nil)
        }
    }

    @Test(arguments: ["v_Data", "v_PersistentRef"])
    func `two kinds are given in a dictionary, also where a password has one of them alone`(_ kind: String) {
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("x".utf8)]), nil) == errSecSuccess)
            let asked = "r" + kind.dropFirst()
            let query = generic("a", [asked as CFString: true, kSecReturnRef: true])
            let given = find(query).object as? [String: Any]
            #expect(given.map { Array($0.keys) } == [kind])
            let both = generic(
                "b",
                [kSecValueData: Data("x".utf8), asked as CFString: true, kSecReturnRef: true]
            )
            var object: CFTypeRef?
            #expect(SecItemAdd(both, &object) == errSecSuccess)
            #expect((object as? [String: Any]).map { Array($0.keys) } == [kind])
        }
    }

    @Test func `a limit above the largest number is refused`() {
        for limit in [UInt64.max, 1 << 63] as [UInt64] {
            let query = generic("a", [kSecMatchLimit: limit])
            bench.run { #expect(SecItemCopyMatching(query, nil) == errSecParam) }
        }
    }

    @Test func `attributes of more than 128 KiB in all are refused, when adding and when changing`() {
        bench.run {
            let long = String(repeating: "x", count: 60 << 10)
            let fits: [CFString: Any] = [kSecAttrLabel: long, kSecAttrComment: long]
            #expect(SecItemAdd(generic("a", fits), nil) == errSecSuccess)
            let tooMany = fits.merging([kSecAttrDescription: long]) { $1 }
            #expect(SecItemAdd(generic("b", tooMany), nil) == errSecParam)
            #expect(
                SecItemUpdate(generic("a"), [kSecAttrDescription: long] as CFDictionary) == errSecParam
            )
        }
    }

    @Test func `adding gives what is asked for`() {
        bench.run {
            var object: CFTypeRef?
            let kinds: [CFString: Any] = [
                kSecValueData: Data("x".utf8), kSecReturnAttributes: true, kSecReturnData: true,
            ]
            #expect(SecItemAdd(generic("a", kinds), &object) == errSecSuccess)
            let given = object as? [String: Any]
            #expect(given?["v_Data"] as? Data == Data("x".utf8))
            #expect(given?["svce"] as? String == "mail")
        }
    }

    @Test func `only items that may leave, that may not, or both`() {
        bench.run {
            #expect(SecItemAdd(generic("stays"), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("leaves", [kSecAttrSynchronizable: true]), nil) == errSecSuccess)
            func accounts(_ more: [CFString: Any]) -> Set<String> {
                var query: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
                    kSecReturnAttributes: true,
                ]
                query.merge(more) { $1 }
                let found = find(query as CFDictionary).object as? [[String: Any]] ?? []
                return Set(found.compactMap { $0["acct"] as? String })
            }
            #expect(accounts([:]) == ["stays"])
            #expect(accounts([kSecAttrSynchronizable: false]) == ["stays"])
            #expect(accounts([kSecAttrSynchronizable: true]) == ["leaves"])
            #expect(accounts([kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == ["stays", "leaves"])
        }
    }

    @Test func `values are empty, or as large as 16 MiB`() {
        bench.run {
            #expect(SecItemAdd(generic("none"), nil) == errSecSuccess)
            #expect(value("none") == Data())
            let large = Data(repeating: 7, count: 10 << 20)
            #expect(SecItemAdd(generic("large", [kSecValueData: large]), nil) == errSecSuccess)
            #expect(value("large") == large)
            let tooLarge = Data(count: (16 << 20) + 1)
            #expect(SecItemAdd(generic("more", [kSecValueData: tooLarge]), nil) == errSecParam)
        }
    }

    @Test func `all that match are changed and deleted`() {
        bench.run {
            for name in ["a", "b"] { #expect(SecItemAdd(generic(name), nil) == errSecSuccess) }
            let mail = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"] as CFDictionary
            #expect(SecItemUpdate(mail, [kSecAttrComment: "new"] as CFDictionary) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("b", [kSecAttrComment: "new"]), nil) == errSecSuccess)
            #expect(SecItemDelete(mail) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecItemNotFound)
        }
    }
}

/// A key and a value of constants that never change.
struct UncheckedPair: @unchecked Sendable, CustomTestStringConvertible {
    let key: CFString
    let value: Any

    init(_ key: CFString, _ value: Any) {
        self.key = key
        self.value = value
    }

    var testDescription: String { "\(key)" }
}
