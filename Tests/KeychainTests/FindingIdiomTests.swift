// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlContext
import Foundation
import KeychainServices
import LocalAuthentication
import Synchronization
import Testing

/// The ways in which programs find, change and delete items.
@Suite struct `Finding, changing and deleting idioms` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private func store(_ accounts: [String]) {
        for account in accounts {
            #expect(SecItemAdd(generic(account, [kSecValueData: Data(account.utf8)]), nil) == errSecSuccess)
        }
    }

    private func read<T>(_ more: [CFString: Any], as type: T.Type = T.self) -> T? {
        var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]
        query.merge(more) { $1 }
        return find(query as CFDictionary).object as? T
    }

    @Test func `a result is cast to any of the types that programs use`() {
        bench.run {
            store(["a"])
            #expect(read([kSecReturnData: true], as: Data.self) == Data("a".utf8))
            #expect(read([kSecReturnData: true], as: NSData.self) == Data("a".utf8) as NSData)
            #expect(read([kSecReturnData: true], as: CFData.self) != nil)
            #expect(read([kSecReturnAttributes: true], as: [String: Any].self)?["acct"] as? String == "a")
            #expect(read([kSecReturnAttributes: true], as: [String: AnyObject].self)?.isEmpty == false)
            #expect(read([kSecReturnAttributes: true], as: [CFString: Any].self)?[kSecAttrAccount] != nil)
            #expect(read([kSecReturnAttributes: true], as: NSDictionary.self)?[kSecAttrAccount] != nil)
            #expect(read([kSecReturnAttributes: true], as: CFDictionary.self)?["acct"] as? String == "a")
            let all: [CFString: Any] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]
            #expect(read(all, as: [[String: Any]].self)?.count == 1)
            #expect(read(all, as: [NSDictionary].self)?.count == 1)
            #expect(read(all, as: NSArray.self)?.count == 1)
            #expect(read(all, as: [[CFString: Any]].self)?.first?[kSecAttrAccount] as? String == "a")
            #expect(read([kSecReturnData: true], as: String.self) == nil)
        }
    }

    @Test func `a list is read with each of the spellings of a key`() {
        bench.run {
            store(["a", "b"])
            let list: [[String: Any]]? = read([
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
            ])
            #expect(list?.compactMap { $0[kSecAttrAccount as String] as? String } == ["a", "b"])
            #expect(list?.compactMap { $0[String(kSecAttrAccount)] as? String } == ["a", "b"])
            #expect(list?.compactMap { $0["acct"] as? String } == ["a", "b"])
            #expect(list?.compactMap { $0[kSecValueData as String] as? Data }.count == 2)
        }
    }

    @Test func `a constant is no key of a dictionary of hashables, and is one of the others`() {
        bench.run {
            store(["a"])
            let hashables = read([kSecReturnAttributes: true], as: [AnyHashable: Any].self)
            #expect(hashables?[kSecAttrAccount] == nil, "Docs/Porting.md says so")
            #expect(hashables?[kSecAttrAccount as String] as? String == "a")
            let texts = read([kSecReturnAttributes: true], as: [CFString: Any].self)
            #expect(texts?[kSecAttrAccount] as? String == "a")
        }
    }

    @Test func `a limit of one with all the results, and a limit that is larger than what there is`() {
        bench.run {
            store(["a", "b"])
            #expect(read([kSecMatchLimit: kSecMatchLimitOne, kSecReturnData: true], as: Data.self) != nil)
            #expect(read([kSecMatchLimit: 1, kSecReturnData: true], as: Data.self) != nil)
            #expect(read([kSecMatchLimit: 100, kSecReturnData: true], as: [Data].self)?.count == 2)
        }
    }

    @Test func `whether an item is there is asked without a place for a result`() {
        bench.run {
            store(["a"])
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a", [kSecReturnData: false]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a", [kSecReturnData: true]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("b"), nil) == errSecItemNotFound)
        }
    }

    @Test func `whether an item is guarded is asked with a prompt that is not allowed`() {
        bench.run {
            let guarded: [CFString: Any] = [kSecAttrAccessControl: control(.userPresence)]
            #expect(SecItemAdd(generic("a", guarded), nil) == errSecSuccess)
            let context = LAContext()
            context.interactionNotAllowed = true
            let ways: [[CFString: Any]] = [
                [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail], [kSecUseNoAuthenticationUI: true],
                [kSecUseAuthenticationContext: context],
            ]
            for way in ways {
                let query = generic("a", way.merging([kSecReturnData: true]) { $1 })
                #expect(find(query).status == errSecInteractionNotAllowed)
            }
            let skip: [CFString: Any] = [
                kSecUseAuthenticationUI: kSecUseAuthenticationUISkip, kSecReturnData: true,
            ]
            #expect(find(generic("a", skip)).status == errSecItemNotFound)
            #expect(bench.chip.prompts.isEmpty)
        }
    }

    @Test func `what a call gave finds, changes and deletes its item`() throws {
        try bench.run {
            store(["a"])
            let found = try #require(read([kSecReturnAttributes: true], as: [CFString: Any].self))
            // Apple gives dates to the tenth of a microsecond, and programs take them out before they ask again.
            #expect(SecItemCopyMatching(found as CFDictionary, nil) == errSecSuccess)
            let change = [kSecValueData: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(found as CFDictionary, change) == errSecSuccess)
            #expect(value("a") == Data("new".utf8))
            var again = try #require(read([kSecReturnAttributes: true], as: [CFString: Any].self))
            again[kSecAttrModificationDate] = nil
            #expect(SecItemDelete(again as CFDictionary) == errSecSuccess)
        }
    }

    @Test func `an update changes account, label, value and protection at once`() {
        bench.run {
            store(["a"])
            let change: [String: Any] = [
                kSecAttrAccount as String: "b", kSecAttrLabel as String: "label",
                kSecValueData as String: Data("new".utf8),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
            ]
            #expect(SecItemUpdate(generic("a"), change as CFDictionary) == errSecSuccess)
            #expect(value("b", [kSecAttrLabel: "label", kSecAttrAccessible: "ck"]) == Data("new".utf8))
        }
    }

    @Test func `an update of several changes each, and one of none says so`() {
        bench.run {
            store(["a", "b", "c"])
            let all = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"] as CFDictionary
            #expect(SecItemUpdate(all, [kSecAttrComment: "seen"] as CFDictionary) == errSecSuccess)
            let seen = read(
                [kSecAttrComment: "seen", kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true],
                as: [Data].self
            )
            #expect(seen?.count == 3)
            let none = [kSecClass: kSecClassGenericPassword, kSecAttrService: "web"] as CFDictionary
            #expect(SecItemUpdate(none, [kSecAttrComment: "seen"] as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test func `everything is wiped class by class, also classes that hold nothing`() {
        bench.run {
            store(["a", "b"])
            let classes = [
                kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
                kSecClassIdentity,
            ]
            let statuses = classes.map { SecItemDelete([kSecClass: $0] as CFDictionary) }
            #expect(statuses == [0] + Array(repeating: errSecItemNotFound, count: 4))
            #expect(classes.map { SecItemDelete([kSecClass: $0] as NSDictionary) }.allSatisfy { $0 != 0 })
        }
    }

    @Test func `deleting takes a limit of all, both kinds, an access group and a context`() {
        bench.run {
            for more: [CFString: Any] in [
                [kSecMatchLimit: kSecMatchLimitAll], [kSecAttrSynchronizable: kSecAttrSynchronizableAny],
                [kSecAttrAccessGroup: "org.example.app"], [kSecUseAuthenticationContext: LAContext()],
                [kSecUseDataProtectionKeychain: true], [kSecReturnData: kCFBooleanFalse!],
                [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked],
            ] {
                store(["a"])
                #expect(SecItemDelete(generic("a", more)) == errSecSuccess)
            }
        }
    }

    @Test func `a persistent reference is the same after a restart`() throws {
        let (reference, stored) = try bench.run { () -> (Data, Data) in
            var result: CFTypeRef?
            let item = generic("a", [kSecValueData: Data("v".utf8), kSecReturnPersistentRef: true])
            #expect(SecItemAdd(item, &result) == errSecSuccess)
            let added = try #require(result as? Data)
            return (added, try #require(read([kSecReturnPersistentRef: true], as: Data.self)))
        }
        #expect(reference == stored)
        #expect(reference.count == 12)
        #expect(reference.prefix(4) == Data("genp".utf8))
        // Other surroundings on the same directory are another process of the same user.
        bench.run(groups: ["other"]) {
            #expect(read([kSecReturnPersistentRef: true], as: Data.self) == reference)
            let named: [CFString: Any] = [kSecValuePersistentRef: reference, kSecReturnData: true]
            #expect(find(named as CFDictionary).object as? Data == Data("v".utf8))
        }
    }

    @Test func `64 threads set, read and delete the same and different items`() {
        let unexpected = Mutex<[OSStatus]>([])
        let parts = bench.parts()
        let done = DispatchGroup()
        for number in 0..<64 {
            done.enter()
            Thread {
                ContextParts.$ofTask.withValue(parts) {
                    for account in ["shared", "own \(number)"] {
                        let whole = generic(account, [kSecValueData: Data(account.utf8)])
                        var statuses = [SecItemDelete(whole), SecItemAdd(whole, nil)]
                        let change = [kSecValueData: Data(account.utf8)] as CFDictionary
                        statuses.append(SecItemUpdate(whole, change))
                        let found = find(generic(account, [kSecReturnData: true]))
                        statuses.append(found.status)
                        if let data = found.object as? Data, data != Data(account.utf8) { statuses.append(1) }
                        if account != "shared", found.object == nil { statuses.append(2) }
                        let known = [errSecSuccess, errSecItemNotFound, errSecDuplicateItem]
                        unexpected.withLock { $0 += statuses.filter { !known.contains($0) } }
                    }
                }
                done.leave()
            }.start()
        }
        done.wait()
        #expect(unexpected.withLock(\.self) == [])
        bench.run {
            let all = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true] as [CFString: Any]
            #expect((read(all, as: [Data].self)?.count ?? 0) >= 64)
        }
    }
}
