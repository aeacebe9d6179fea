// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

/// Searches by what certificates say: `kSecMatch…`.
@Suite struct `Searches for certificates` {
    private let bench: KeychainBench
    private let root: CertificateAuthority
    private let middle: CertificateAuthority

    init() throws {
        bench = try KeychainBench()
        root = try CertificateAuthority("/C=SE/O=Example Works/CN=Root")
        middle = try CertificateAuthority("/C=SE/O=Example Works/CN=Middle", issuedBy: root)
    }

    private func store(_ bytes: Data) {
        let item = [kSecClass: kSecClassCertificate, kSecValueData: bytes] as CFDictionary
        #expect(SecItemAdd(item, nil) == errSecSuccess)
    }

    /// The common names of what a query finds.
    private func names(_ matches: [CFString: Any]) -> [String]? {
        let query = matches.merging(
            [kSecClass: kSecClassCertificate, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll]
        ) { $1 }
        let found = find(query as CFDictionary)
        guard found.status == errSecSuccess else { return found.status == errSecItemNotFound ? [] : nil }
        return (found.object as? [SecCertificate])?.map {
            SecCertificateCopySubjectSummary($0) as String? ?? ""
        }
    }

    private func issuer(_ bytes: Data) throws -> Data {
        try #require(SecCertificateCopyNormalizedSubjectSequence(try certificate(bytes)) as Data?)
    }

    @Test func `an issuer is asked for by its name, also above certificates in between`() throws {
        let key = try softwareKey(256)
        try bench.run {
            store(try root.issue("/CN=ada", for: key))
            store(try middle.issue("/CN=bob", for: key))
            store(try CertificateAuthority("/CN=Other").issue("/CN=eve", for: key))
            let (top, below) = (try issuer(root.certificate), try issuer(middle.certificate))
            #expect(names([kSecMatchIssuers: [top]]) == ["ada"])
            #expect(names([kSecMatchIssuers: [below]]) == ["bob"])
            #expect(names([kSecMatchIssuers: [top, below]]) == ["ada", "bob"])
            // The keychain now knows who has certified bob's issuer.
            store(middle.certificate)
            #expect(names([kSecMatchIssuers: [top]]) == ["ada", "bob", "Middle"])
            #expect(names([kSecMatchIssuers: [] as [Data]]) == [])
            let one: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecMatchIssuers: [below], kSecReturnRef: true,
            ]
            let found = find(one as CFDictionary).object as? SecCertificate
            #expect(found.flatMap { SecCertificateCopySubjectSummary($0) as String? } == "bob")
        }
    }

    @Test func `issuers in a circle end the search`() throws {
        let (key, other) = (try softwareKey(256), try CertificateAuthority("/CN=Other"))
        try bench.run {
            // Each of the two says that the other one is its issuer.
            store(try CertificateAuthority("/CN=Two").issue("/CN=One", for: key))
            store(try CertificateAuthority("/CN=One").issue("/CN=Two", for: key))
            #expect(names([kSecMatchIssuers: [try issuer(other.certificate)]]) == [])
        }
    }

    @Test func `a subject is asked for by a part of one of its texts`() throws {
        let key = try softwareKey(256)
        try bench.run {
            store(try root.issue("/O=Example Works/CN=Ada Lovelace", for: key))
            store(try root.issue("/O=Other/CN=Bob", for: key))
            for (match, text, wanted) in [
                (kSecMatchSubjectContains, "Love", ["Ada Lovelace"]),
                (kSecMatchSubjectContains, "Works", ["Ada Lovelace"]),
                (kSecMatchSubjectContains, "love", []), (kSecMatchSubjectStartsWith, "Ada", ["Ada Lovelace"]),
                (kSecMatchSubjectStartsWith, "Lovelace", []),
                (kSecMatchSubjectEndsWith, "lace", ["Ada Lovelace"]),
                (kSecMatchSubjectEndsWith, "Ada", []), (kSecMatchSubjectWholeString, "Bob", ["Bob"]),
                (kSecMatchSubjectWholeString, "Bo", []),
                (kSecMatchSubjectContains, "o", ["Ada Lovelace", "Bob"]),
            ] {
                #expect(names([match: text]) == wanted, "\(match) \(text)")
            }
            #expect(
                names([kSecMatchSubjectContains: "love", kSecMatchCaseInsensitive: true]) == ["Ada Lovelace"]
            )
            #expect(names([kSecMatchSubjectContains: "o", kSecMatchSubjectEndsWith: "Bob"]) == ["Bob"])
            #expect(names([kSecMatchSubjectContains: "", kSecMatchCaseInsensitive: true]) == nil)
        }
    }

    @Test func `an address leaves out certificates with other addresses, and none without`() throws {
        let key = try softwareKey(256)
        try bench.run {
            store(try root.issue("/CN=ada", for: key, alternativeNames: "email:ada@example.org"))
            store(try root.issue("/CN=bob", for: key, alternativeNames: "email:bob@example.org"))
            store(try root.issue("/CN=none", for: key))
            #expect(names([kSecMatchEmailAddressIfPresent: "Ada@example.org"]) == ["ada", "none"])
        }
    }

    @Test func `a date leaves out what is not valid on it, and the null object is now`() throws {
        let key = try softwareKey(256)
        try bench.run {
            store(try root.issue("/CN=short", for: key, days: 2))
            store(try root.issue("/CN=long", for: key, days: 20))
            let inDays = { (days: Double) in Date().addingTimeInterval(days * 86_400) as NSDate }
            #expect(names([kSecMatchValidOnDate: NSNull()]) == ["short", "long"])
            #expect(names([kSecMatchValidOnDate: inDays(10)]) == ["long"])
            #expect(names([kSecMatchValidOnDate: inDays(30)]) == [])
            #expect(names([kSecMatchValidOnDate: inDays(-1)]) == [])
        }
    }

    @Test func `a search that says nothing of certificates, and one where nothing is found, is refused`()
        throws
    {
        bench.run {
            for (match, wrong) in [
                (kSecMatchIssuers, Data([1]) as Any), (kSecMatchIssuers, [Data([1])]),
                (kSecMatchIssuers, ["x"]),
                (kSecMatchSubjectContains, 1), (kSecMatchEmailAddressIfPresent, Data()),
                (kSecMatchValidOnDate, "today"),
            ] {
                let query = [kSecClass: kSecClassCertificate, match: wrong] as CFDictionary
                #expect(SecItemCopyMatching(query, nil) == errSecParam, "\(match)")
            }
            for itemClass in [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey] {
                let query = [kSecClass: itemClass, kSecMatchSubjectContains: "x"] as CFDictionary
                #expect(SecItemCopyMatching(query, nil) == errSecParam)
            }
            let deleting = [kSecClass: kSecClassCertificate, kSecMatchSubjectContains: "x"] as CFDictionary
            #expect(SecItemDelete(deleting) == errSecUnimplemented)
        }
    }
}
