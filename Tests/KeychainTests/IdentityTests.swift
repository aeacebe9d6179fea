// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

@Suite struct `Identities` {
    private let bench: KeychainBench
    private let authority: CertificateAuthority

    init() throws {
        bench = try KeychainBench()
        authority = try CertificateAuthority("/CN=Root")
    }

    /// Stores a private key and a certificate for it, each by itself.
    @discardableResult
    private func store(
        _ subject: String,
        _ key: SecKey,
        tag: String = "",
        _ more: [CFString: Any] = [:]
    ) throws -> SecCertificate {
        let item: [CFString: Any] = [kSecValueRef: key, kSecAttrApplicationTag: tag]
        #expect(SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil) == errSecSuccess)
        let own = try certificate(authority.issue(subject, for: key))
        #expect(SecItemAdd([kSecValueRef: own] as CFDictionary, nil) == errSecSuccess)
        return own
    }

    private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
        ([kSecClass: kSecClassIdentity, kSecReturnRef: true] as [CFString: Any]).merging(more) { $1 }
            as CFDictionary
    }

    private func names(_ more: [CFString: Any] = [:]) -> [String] {
        let found = find(query(more.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 }))
        return (found.object as? [SecIdentity] ?? []).compactMap { identity in
            var own: SecCertificate?
            SecIdentityCopyCertificate(identity, &own)
            return own.flatMap { SecCertificateCopySubjectSummary($0) as String? }
        }
    }

    private func count(_ itemClass: CFString) -> Int {
        let all: [CFString: Any] = [
            kSecClass: itemClass, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        return (find(all as CFDictionary).object as? [Any])?.count ?? 0
    }

    // MARK: - Find

    @Test(arguments: [("73", 256), ("42", 2048)])
    func `a certificate and the private key for it are an identity`(type: String, bits: Int) throws {
        let (key, stranger) = (try softwareKey(type as NSString, bits), try softwareKey(256))
        try bench.run {
            let own = try store("/CN=ada", key)
            // Neither a certificate without a key nor a key without a certificate is one.
            let lonely = try certificate(authority.issue("/CN=eve", for: stranger))
            #expect(SecItemAdd([kSecValueRef: lonely] as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd([kSecValueRef: try softwareKey(256)] as CFDictionary, nil) == errSecSuccess)
            let half = [kSecValueRef: try publicKey(stranger)] as CFDictionary
            #expect(SecItemAdd(half, nil) == errSecSuccess)
            #expect(names() == ["ada"])
            // The query asked for a reference, and an identity is cast without a question on Apple's systems.
            // swift-format-ignore: NeverForceUnwrap
            let identity = find(query()).object as! SecIdentity
            #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
            var (certificate, whole): (SecCertificate?, SecKey?)
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
            #expect(SecIdentityCopyPrivateKey(identity, &whole) == errSecSuccess)
            #expect(certificate == own)
            #expect(whole == key)
            var made: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, own, &made) == errSecSuccess)
            #expect(made == identity)
            var none: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, lonely, &none) == errSecItemNotFound)
            #expect(none == nil)
        }
    }

    @Test func `labels are the certificate's and tags the key's`() throws {
        try bench.run {
            try store("/CN=ada", softwareKey(256), tag: "one")
            try store("/CN=bob", softwareKey(256), tag: "two")
            #expect(names().sorted() == ["ada", "bob"])
            #expect(names([kSecAttrLabel: "ada"]) == ["ada"])
            #expect(names([kSecAttrApplicationTag: Data("two".utf8)]) == ["bob"])
            #expect(names([kSecAttrLabel: "ada", kSecAttrApplicationTag: "two"]) == [])
            #expect(names([kSecMatchSubjectWholeString: "bob"]) == ["bob"])
            #expect(names([kSecAttrKeyClass: kSecAttrKeyClassPublic]) == [])
            #expect(names([kSecAttrKeyClass: kSecAttrKeyClassPrivate]).count == 2)
            let issuer = try #require(
                SecCertificateCopyNormalizedSubjectSequence(try certificate(authority.certificate)) as Data?
            )
            #expect(names([kSecMatchIssuers: [issuer]]).count == 2)
            #expect(names([kSecMatchIssuers: [Data([0x30, 0])]]) == [])
            #expect(find(query([kSecAttrAccount: "x"])).status == errSecNoSuchAttr)
        }
    }

    @Test func `all the results at once are those of both halves`() throws {
        try bench.run {
            let key = try softwareKey(256)
            let own = try store("/CN=ada", key, tag: "one")
            let all: [CFString: Any] = [
                kSecReturnData: true, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            ]
            let found = try #require(find(query(all)).object as? [CFString: Any])
            #expect(found[kSecValueData] as? Data == (try bytes(key)))
            #expect(found[kSecAttrApplicationTag] as? Data == Data("one".utf8))
            #expect(found[kSecAttrLabel] as? String == "ada")
            #expect(
                found[kSecAttrSerialNumber] as? Data == SecCertificateCopySerialNumberData(own, nil) as Data?
            )
            #expect(found[kSecValueRef] is SecIdentity)
            #expect(found[kSecClass] as? String == "idnt")
            let reference = try #require(found[kSecValuePersistentRef] as? Data)
            #expect(reference.count == 12 && reference.prefix(4) == Data("idnt".utf8))
            let byReference = [kSecValuePersistentRef: reference, kSecReturnRef: true] as CFDictionary
            #expect(find(byReference).object as? SecIdentity == found[kSecValueRef] as? SecIdentity)
            let wrong = [kSecClass: kSecClassCertificate, kSecValuePersistentRef: reference] as CFDictionary
            #expect(find(wrong).status == errSecNoSuchClass)
        }
    }

    @Test func `a key that says it is another's is part of no identity`() throws {
        try bench.run {
            let (key, other) = (try softwareKey(256), try softwareKey(256))
            let own = try certificate(authority.issue("/CN=ada", for: key))
            #expect(SecItemAdd([kSecValueRef: own] as CFDictionary, nil) == errSecSuccess)
            let told = SecKeyCopyAttributes(key) as? [String: Any]
            for bytes in [try bytes(other), Data("no key".utf8)] {
                let liar: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
                    kSecAttrKeyType: kSecAttrKeyTypeEC, kSecValueData: bytes,
                    kSecAttrApplicationTag: bytes.prefix(4),
                    kSecAttrApplicationLabel: told?[kSecAttrApplicationLabel as String] as? Data ?? Data(),
                ]
                #expect(SecItemAdd(liar as CFDictionary, nil) == errSecSuccess)
            }
            #expect(find(query()).status == errSecItemNotFound)
            #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecItemNotFound)
            // The right key is found beside them.
            #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, nil) == errSecSuccess)
            #expect(names() == ["ada"])
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
            #expect(count(kSecClassKey) == 2 && count(kSecClassCertificate) == 0)
        }
    }

    @Test func `a guarded key asks where its value is needed, and not where it is not`() throws {
        try bench.run {
            let guarded: [CFString: Any] = [kSecAttrAccessControl: control(.biometryCurrentSet)]
            try store("/CN=ada", softwareKey(256), guarded)
            let attributes = query([kSecReturnRef: false, kSecReturnAttributes: true])
            #expect(find(attributes).status == errSecSuccess)
            #expect(bench.chip.prompts.isEmpty)
            #expect(
                find(query([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])).status
                    == errSecItemNotFound
            )
            #expect(
                find(query([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])).status
                    == errSecInteractionNotAllowed
            )
            #expect(names() == ["ada"])
            #expect(bench.chip.prompts.count == 1)
            bench.chip.addFinger()
            #expect(find(query()).status == errSecItemNotFound)
            #expect(find(attributes).status == errSecItemNotFound)
        }
    }

    @Test func `halves in two groups are one identity for who may use both`() throws {
        try bench.run(groups: ["shared"]) {
            try store("/CN=ada", softwareKey(256), [kSecAttrAccessGroup: "shared"])
            #expect(names() == ["ada"])
            #expect(names([kSecAttrAccessGroup: "shared"]) == [])
        }
        bench.run { #expect(names() == []) }
    }

    // MARK: - Add and delete

    private func identity() throws -> SecIdentity {
        try store("/CN=ada", softwareKey(256))
        let found = try #require(find(query()).object as? SecIdentity)
        #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecSuccess)
        #expect(count(kSecClassKey) + count(kSecClassCertificate) == 0)
        return found
    }

    @Test func `an identity is added and deleted as two items`() throws {
        try bench.run {
            let ada = try identity()
            let item: [CFString: Any] = [
                kSecValueRef: ada, kSecAttrApplicationTag: "tag", kSecReturnPersistentRef: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
            let reference = try #require(result as? Data)
            #expect(reference.prefix(4) == Data("idnt".utf8))
            #expect(count(kSecClassKey) == 1 && count(kSecClassCertificate) == 1)
            #expect(names([kSecAttrApplicationTag: "tag"]) == ["ada"])
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            #expect(SecItemCopyMatching([kSecValueRef: ada] as CFDictionary, nil) == errSecSuccess)
            let byReference = [kSecValuePersistentRef: reference] as CFDictionary
            #expect(SecItemDelete(byReference) == errSecSuccess)
            #expect(count(kSecClassKey) + count(kSecClassCertificate) == 0)
            #expect(SecItemDelete(byReference) == errSecItemNotFound)
            let wrong = [kSecValueRef: ada, kSecClass: kSecClassKey] as CFDictionary
            #expect(SecItemAdd(wrong, nil) == errSecParam)
        }
    }

    @Test func `a limit of one deletes one identity, its certificate and its key`() throws {
        try bench.run {
            for name in ["ada", "bob"] { try store("/CN=\(name)", softwareKey(256)) }
            let one = query([kSecMatchLimit: kSecMatchLimitOne, kSecReturnRef: false])
            for left in [1, 0] {
                #expect(SecItemDelete(one) == errSecSuccess)
                #expect(names().count == left)
                #expect(count(kSecClassCertificate) == left && count(kSecClassKey) == left)
            }
            #expect(SecItemDelete(one) == errSecItemNotFound)
        }
    }

    @Test func `one half that is there already does not keep the other out`() throws {
        try bench.run {
            let ada = try identity()
            var (own, key): (SecCertificate?, SecKey?)
            SecIdentityCopyCertificate(ada, &own)
            SecIdentityCopyPrivateKey(ada, &key)
            for half in [own as Any, key as Any] {
                #expect(SecItemAdd([kSecValueRef: half] as CFDictionary, nil) == errSecSuccess)
                #expect(SecItemAdd([kSecValueRef: ada] as CFDictionary, nil) == errSecSuccess)
                #expect(names() == ["ada"])
                #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
                #expect(count(kSecClassKey) + count(kSecClassCertificate) == 0)
            }
        }
    }

    @Test func `all that was asked for is given where an identity is added`() throws {
        try bench.run {
            let ada = try identity()
            let all: [CFString: Any] = [
                kSecValueRef: ada, kSecReturnRef: true, kSecReturnData: true, kSecReturnAttributes: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemAdd(all as CFDictionary, &result) == errSecSuccess)
            let given = try #require(result as? [String: Any])
            #expect(given[kSecValueRef as String] as? SecIdentity == ada)
            #expect((given[kSecValueData as String] as? Data)?.count == 97)
            #expect(given[kSecAttrLabel as String] as? String == "ada")
        }
    }

    @Test func `a key that another certificate is for stays`() throws {
        try bench.run {
            let key = try softwareKey(256)
            let old = try store("/CN=old", key)
            let new = try certificate(authority.issue("/CN=new", for: key))
            #expect(SecItemAdd([kSecValueRef: new] as CFDictionary, nil) == errSecSuccess)
            #expect(names().sorted() == ["new", "old"])
            let oldest: [CFString: Any] = [
                kSecClass: kSecClassIdentity,
                kSecAttrSerialNumber: SecCertificateCopySerialNumberData(old, nil) as Any,
            ]
            #expect(SecItemDelete(oldest as CFDictionary) == errSecSuccess)
            #expect(names() == ["new"])
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
            #expect(count(kSecClassKey) + count(kSecClassCertificate) == 0)
        }
    }

    @Test func `deleting identities leaves keys and certificates that are part of none`() throws {
        try bench.run {
            try store("/CN=ada", softwareKey(256))
            #expect(SecItemAdd([kSecValueRef: try softwareKey(256)] as CFDictionary, nil) == errSecSuccess)
            let lonely = try certificate(authority.issue("/CN=eve", for: softwareKey(256)))
            #expect(SecItemAdd([kSecValueRef: lonely] as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
            #expect(count(kSecClassKey) == 1 && count(kSecClassCertificate) == 1)
            #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test func `an update of identities says that it is not there`() throws {
        try bench.run {
            try store("/CN=ada", softwareKey(256))
            let update = SecItemUpdate(
                [kSecClass: kSecClassIdentity] as CFDictionary,
                [kSecAttrLabel: "x"] as CFDictionary
            )
            #expect(update == errSecUnimplemented)
            #expect(names([kSecAttrLabel: "ada"]) == ["ada"])
        }
    }
}
