// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// The ways in which programs add items.
@Suite struct `Adding idioms` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private static let password: [String: any Sendable] = [
        "class": "genp", "acct": "ada", "svce": "mail", "v_Data": Data("v".utf8),
    ]

    @Test func `dictionaries of every kind that Swift has`() {
        let mutable = NSMutableDictionary()
        mutable[kSecClass] = kSecClassGenericPassword
        mutable.setObject("ada", forKey: kSecAttrAccount)
        mutable[kSecValueData as String] = Data("v".utf8)
        let dictionaries: [CFDictionary] = [
            Self.password as CFDictionary,
            Self.password.mapValues { $0 as AnyObject } as [String: AnyObject] as CFDictionary,
            [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada"] as [CFString: Any] as CFDictionary,
            [kSecClass as String: kSecClassGenericPassword as String, "acct": "ada"] as [String: AnyHashable]
                as CFDictionary,
            [kSecClass as String: kSecClassGenericPassword, "acct": "ada"] as [AnyHashable: Any]
                as CFDictionary,
            NSDictionary(dictionary: Self.password),
            NSDictionary(objects: ["genp", "ada"], forKeys: ["class" as NSString, "acct" as NSString]),
            mutable,
            mutable as CFMutableDictionary,
        ]
        bench.run {
            for dictionary in dictionaries {
                #expect(SecItemAdd(dictionary, nil) == errSecSuccess)
                let found = find(
                    [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada", kSecReturnAttributes: true]
                        as CFDictionary
                )
                #expect((found.object as? [String: Any])?["acct"] as? String == "ada")
                #expect(SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary) == errSecSuccess)
            }
        }
    }

    @Test func `an account is a text or bytes, and each is found as what it was`() {
        bench.run {
            for account in ["ada" as Any, Data("ada".utf8), NSString("ada"), NSData(data: Data([0xFF]))] {
                let item = generic("", [kSecAttrAccount: account, kSecAttrGeneric: account])
                #expect(SecItemAdd(item, nil) != errSecParam)
                #expect(SecItemCopyMatching(item, nil) == errSecSuccess)
            }
        }
    }

    @Test func `the same dictionary again is a duplicate, whatever else it says`() {
        bench.run {
            #expect(SecItemAdd(Self.password as CFDictionary, nil) == errSecSuccess)
            for (key, value) in ["labl": "x", "icmt": "x", "pdmn": "ck"] {
                var other = Self.password
                other[key] = value
                #expect(SecItemAdd(other as CFDictionary, nil) == errSecDuplicateItem)
            }
        }
    }

    @Test func `what is asked for is given, as the type that programs cast to`() throws {
        try bench.run {
            func added<T>(_ account: String, _ wanted: [CFString: Any], as type: T.Type) throws -> T {
                var result: CFTypeRef?
                let more = wanted.merging([kSecValueData: Data("v".utf8)]) { $1 }
                #expect(SecItemAdd(generic(account, more), &result) == errSecSuccess)
                return try #require(result as? T)
            }
            #expect(try added("a", [kSecReturnData: true], as: Data.self) == Data("v".utf8))
            #expect(try added("b", [kSecReturnPersistentRef: kCFBooleanTrue!], as: Data.self).count == 12)
            let all: [CFString: Any] = [
                kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true,
                kSecReturnPersistentRef: true,
            ]
            let whole = try added("c", all, as: [String: Any].self)
            #expect(whole[kSecAttrAccount as String] as? String == "c")
            #expect(whole[kSecValueData as String] as? Data == Data("v".utf8))
            #expect(whole[kSecValuePersistentRef as String] is Data)
            #expect(try added("d", all, as: NSDictionary.self)[kSecAttrService] as? String == "mail")
        }
    }

    @Test func `a store for blobs keeps them as keys with a tag and no type`() {
        bench.run {
            let blob: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("org.example.blob".utf8),
            ]
            let bytes = Data((0...255).map { UInt8($0) })
            let item = blob.merging([kSecValueData: bytes]) { $1 }
            SecItemDelete(item as CFDictionary)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            let reading = blob.merging([kSecReturnData: true]) { $1 }
            #expect(find(reading as CFDictionary).object as? Data == bytes)
            let change = [kSecValueData: Data([9])] as CFDictionary
            #expect(SecItemUpdate(item as CFDictionary, change) == errSecSuccess)
            #expect(find(reading as CFDictionary).object as? Data == Data([9]))
            #expect(SecItemDelete(item as CFDictionary) == errSecSuccess)
        }
    }

    @Test(arguments: [("42", 2048), ("73", 256)])
    func `bytes of a public key are added as data and found as a key`(type: String, bits: Int) throws {
        try bench.run {
            let half = try publicKey(softwareKey(type as NSString, bits))
            let tag = "org.example.public"
            let item: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrKeyType: type,
                kSecAttrKeyClass: kSecAttrKeyClassPublic, kSecValueData: try bytes(half),
                kSecReturnPersistentRef: true,
            ]
            var reference: CFTypeRef?
            #expect(SecItemAdd(item as CFDictionary, &reference) == errSecSuccess)
            let byReference: [CFString: Any] = [
                kSecValuePersistentRef: try #require(reference as? Data), kSecReturnRef: true,
            ]
            #expect(find(byReference as CFDictionary).object as? SecKey == half)
            let byTag: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(tag.utf8), kSecAttrKeyType: type,
                kSecReturnRef: true,
            ]
            let found = find(byTag as CFDictionary)
            // The query asked for a reference, and a key is cast without a question on Apple's systems.
            // swift-format-ignore: NeverForceUnwrap
            #expect(found.object as! SecKey == half)
            #expect(CFGetTypeID(found.object) == SecKeyGetTypeID())
        }
    }

    @Test func `both halves of a pair are stored where both are asked for`() {
        bench.run {
            let tag = Data("org.example.pair".utf8)
            let query: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag],
                kSecPublicKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag],
            ]
            var (half, whole): (SecKey?, SecKey?)
            #expect(SecKeyGeneratePair(query as CFDictionary, &half, &whole) == errSecSuccess)
            for (part, key) in [(kSecAttrKeyClassPublic, half), (kSecAttrKeyClassPrivate, whole)] {
                let asked: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecAttrKeyClass: part, kSecAttrApplicationTag: tag,
                    kSecReturnRef: true,
                ]
                #expect(find(asked as CFDictionary).object as? SecKey == key)
            }
        }
    }

    @Test func `a pair of which one half cannot be stored leaves neither half`() {
        bench.run {
            let lasting = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            let query: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrAccessible: lasting],
                kSecPublicKeyAttrs: [kSecAttrIsPermanent: true],
            ]
            var (half, whole): (SecKey?, SecKey?)
            // No passcode is set.
            let status = SecKeyGeneratePair(query as CFDictionary, &half, &whole)
            #expect(status == errSecNotAvailable)
            #expect(find([kSecClass: kSecClassKey] as CFDictionary).status == errSecItemNotFound)
        }
    }

    @Test func `a certificate is added as an object or as its bytes, and is the same one`() throws {
        try bench.run {
            let bytes = try certificateBytes(serial: 3)
            let certificate = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
            let object: [CFString: Any] = [kSecValueRef: certificate, kSecAttrLabel: "ada"]
            #expect(SecItemAdd(object as CFDictionary, nil) == errSecSuccess)
            let data: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueData: bytes]
            #expect(SecItemAdd(data as CFDictionary, nil) == errSecDuplicateItem)
        }
    }

    @Test func `an item without a value, and one with an empty one, are there and give no bytes`() {
        bench.run {
            #expect(SecItemAdd(generic("none"), nil) == errSecSuccess)
            #expect(SecItemAdd(generic("empty", [kSecValueData: Data()]), nil) == errSecSuccess)
            #expect(value("none") == Data())
            #expect(value("empty") == Data())
        }
    }

    @Test func `an access control and a context in one dictionary ask nobody`() {
        bench.run {
            let context = LAContext()
            context.interactionNotAllowed = true
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(.biometryCurrentSet), kSecUseAuthenticationContext: context,
                kSecValueData: Data("v".utf8), kSecUseDataProtectionKeychain: true,
            ]
            #expect(SecItemAdd(generic("a", item), nil) == errSecSuccess)
            #expect(bench.chip.prompts.isEmpty)
            #expect(
                find(generic("a", item.merging([kSecReturnData: true]) { $1 })).status
                    == errSecInteractionNotAllowed
            )
        }
    }
}
