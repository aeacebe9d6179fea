// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import PretendedChip
import Crypto
import Foundation
import KeychainServices
import LocalAuthentication
import Testing
import WhorlService

private let message = Data("pay 5 to Ada".utf8)

@Suite struct `Stored keys and certificates` {
    let bench: KeychainBench
    let chip = PretendedChip()
    let tag = Data("org.example.app.key".utf8)

    init() throws { bench = try KeychainBench() }

    @Test func `a permanent key of the chip is found by its tag, as the same key, and signs`() throws {
        try onBench {
            let made = try permanent([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], guarded(.userPresence))
            let found = try #require(find())
            #expect(found == made)
            let told = try #require(SecKeyCopyAttributes(found) as? [String: Any])
            #expect(told[kSecAttrTokenID as String] as? String == "com.apple.setoken")
            #expect(told[kSecAttrApplicationTag as String] as? Data == tag)
            #expect(told[kSecAttrIsPermanent as String] as? Bool == true)
            let signature = try outcome { sign(found, $0) }.get()
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let half = try publicKey(made)
            #expect(SecKeyVerifySignature(half, algorithm, message as CFData, signature, nil))
            #expect(chip.prompts == 1)
        }
    }

    @Test func `the context of a query is the one of the keys that it gives`() throws {
        try onBench {
            _ = try permanent([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], guarded(.biometryAny))
            let key = try #require(find([kSecUseAuthenticationContext: LAContext()]))
            _ = try (outcome { sign(key, $0) }.get(), outcome { sign(key, $0) }.get())
            #expect(chip.prompts == 1)
        }
    }

    @Test func `a key of the chip does not come out as data`() throws {
        try onBench {
            _ = try permanent([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave])
            #expect(copy([kSecReturnData: true]).status == errSecDataNotAvailable)
        }
    }

    @Test(arguments: [("73", 256), ("73", 521), ("42", 2048)])
    func `a permanent key of this process is found as the same key, and lies sealed`(
        type: String,
        bits: Int
    ) throws {
        try onBench {
            let made = try permanent([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits])
            #expect(try #require(find()) == made)
            let whole = try bytes(made)
            #expect(copy([kSecReturnData: true]).object as? Data == whole)
            let folder = URL(filePath: bench.path + "/state")
            let files = try FileManager.default.contentsOfDirectory(
                at: folder,
                includingPropertiesForKeys: nil
            )
            let stored = try files.map { try Data(contentsOf: $0) }
            #expect(stored.allSatisfy { $0.range(of: whole.suffix(32)) == nil })
            #expect(stored.contains { $0.range(of: tag) != nil })
        }
    }

    @Test func `a key of this process with an access control asks for the owner when it is read`() throws {
        try onBench {
            let made = try permanent([:], control(.biometryCurrentSet))
            chip.fail(with: .userCancel)
            #expect(copy([kSecReturnRef: true]).status == errSecUserCanceled)
            chip.fail(with: nil)
            #expect(try #require(find()) == made)
            chip.addFinger()
            #expect(copy([kSecReturnRef: true]).status == errSecItemNotFound)
        }
    }

    @Test func `a key for a set of fingers is gone with the set, and one that was found before says so`()
        throws
    {
        try onBench {
            let made = try permanent(
                [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave],
                guarded(.biometryCurrentSet)
            )
            #expect(try #require(find()) == made)
            chip.addFinger()
            #expect(copy([kSecReturnRef: true]).status == errSecItemNotFound)
            #expect(outcome { sign(made, $0) }.code == status(errSecItemNotFound))
        }
    }

    @Test func `the same key cannot be added twice, and can be deleted`() throws {
        try onBench {
            let key = try softwareKey(256)
            let item: [CFString: Any] = [kSecClass: kSecClassKey, kSecValueRef: key]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            let half: [CFString: Any] = [kSecValueRef: try publicKey(key)]
            #expect(SecItemAdd(half as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemDelete(item as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(item as CFDictionary) == errSecItemNotFound)
            let rest = try publicKey(key)
            #expect(copy([kSecReturnRef: true]).object as? SecKey == rest)
        }
    }

    @Test func `bytes that are stored as a key and are none come out as bytes alone`() {
        onBench {
            let item: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecValueData: message,
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(copy([kSecReturnData: true]).object as? Data == message)
            #expect(copy([kSecReturnRef: true]).status == errSecInvalidKeyRef)
        }
    }

    @Test func `a certificate is found by what it says, and comes out as itself`() throws {
        try onBench {
            let der = try certificateBytes(serial: 77)
            let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
            let item: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueRef: certificate]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let same: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueData: der]
            #expect(SecItemAdd(same as CFDictionary, nil) == errSecDuplicateItem)
            for attribute in [
                kSecAttrSerialNumber: Data([77]), kSecAttrLabel: "ada",
                kSecAttrIssuer: SecCertificateCopyNormalizedIssuerSequence(certificate) as Data? as Any,
            ] as [CFString: Any] {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassCertificate, kSecReturnRef: true, attribute.key: attribute.value,
                ]
                var object: CFTypeRef?
                #expect(SecItemCopyMatching(query as CFDictionary, &object) == errSecSuccess)
                #expect((object as? SecCertificate) == certificate)
            }
            let broken: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueData: der.dropLast()]
            #expect(SecItemAdd(broken as CFDictionary, nil) == errSecDecode)
        }
    }

    @Test func `what Apple's sample writes to find a key compiles and behaves`() throws {
        try onBench {
            _ = try permanent([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave])
            let query: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecReturnRef as String: true,
            ]
            var item: CFTypeRef?
            try #require(SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess)
            // The idiom that is tested: the cast of a query's result.
            let key = item as! SecKey
            #expect(SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
        }
    }

    // MARK: - Helpers

    func onBench(_ body: () throws -> Void) rethrows {
        let parts = chip.parts(of: "org.example.app", keychain: bench.rows(of: ["org.example.app"])).asTested
        try ContextParts.$ofTask.withValue(parts) { try body() }
    }

    func permanent(_ more: [CFString: Any], _ access: SecAccessControl? = nil) throws -> SecKey {
        var half: [CFString: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag]
        half[kSecAttrAccessControl] = access
        let query: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: half,
        ].merging(more) { _, new in new }
        return try outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.get()
    }

    func guarded(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
        control([.privateKeyUsage, flags])
    }

    func copy(_ more: [CFString: Any]) -> (status: OSStatus, object: AnyObject?) {
        var object: CFTypeRef?
        let query = [kSecClass: kSecClassKey as Any].merging(more) { _, new in new }
        return (SecItemCopyMatching(query as CFDictionary, &object), object)
    }

    func find(_ more: [CFString: Any] = [:]) -> SecKey? {
        copy([kSecAttrApplicationTag: tag, kSecReturnRef: true].merging(more) { _, new in new }).object
            as? SecKey
    }

    private func sign(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData? {
        SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, error)
    }
}
