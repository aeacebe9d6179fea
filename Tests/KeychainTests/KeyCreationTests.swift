// SPDX-License-Identifier: Apache-2.0

import PretendedChip
import Foundation
import KeychainServices
import LocalAuthentication
import Testing
import WhorlVault
import WhorlService

@Suite struct `Making keys` {
    @Test(arguments: [(256, 65, 97), (384, 97, 145), (521, 133, 199)])
    func `elliptic curve keys have Apple's forms and come back from them`(bits: Int, half: Int, whole: Int)
        throws
    {
        let key = try softwareKey(bits)
        let (publicBytes, privateBytes) = try (bytes(publicKey(key)), bytes(key))
        #expect(publicBytes.count == half && publicBytes.first == 4)
        #expect(privateBytes.count == whole && privateBytes.starts(with: publicBytes))
        #expect(SecKeyGetBlockSize(key) == (bits + 7) / 8)
        let again = try remade(privateBytes, kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate).get()
        #expect(again == key && again.hash == key.hash)
        #expect(try remade(publicBytes, kSecAttrKeyTypeEC, kSecAttrKeyClassPublic).get() == publicKey(key))
        #expect(try publicKey(key) != key)
    }

    @Test func `RSA keys have Apple's forms and come back from them`() throws {
        let key = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        #expect(SecKeyGetBlockSize(key) == 256)
        let again = try remade(bytes(key), kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate).get()
        #expect(again == key)
        let half = try bytes(publicKey(key))
        // RSAPublicKey is SEQUENCE { INTEGER, INTEGER }, without a name of the algorithm.
        #expect(Array(half.prefix(6)) == [0x30, 0x82, 0x01, 0x0a, 0x02, 0x82])
        #expect(try remade(half, kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic).get() == publicKey(key))
    }

    @Test func `a private key whose halves do not belong together is refused`() throws {
        let (one, other) = try (bytes(softwareKey(256)), bytes(softwareKey(256)))
        let mixed = one.prefix(65) + other.suffix(32)
        #expect(
            remade(Data(mixed), kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate).code == status(errSecDecode)
        )
    }

    @Test func `bytes that are no key are refused`() throws {
        let point = try bytes(publicKey(softwareKey(256)))
        var off = point
        off[64] ^= 1
        for data in [Data(), Data([4]), point.dropLast(), point + [0], off, Data(count: 65), Data(count: 97)]
        {
            for kind in [kSecAttrKeyTypeEC, kSecAttrKeyTypeRSA] {
                for half in [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate] {
                    #expect(remade(Data(data), kind, half).code == status(errSecDecode))
                }
            }
        }
    }

    @Test func `a key in the chip never leaves it, and its public half is a point`() throws {
        try onPretendedChip { _ in
            let key = try chipKey()
            #expect(outcome { SecKeyCopyExternalRepresentation(key, $0) }.code == status(errSecUnimplemented))
            #expect(try bytes(publicKey(key)).count == 65)
            let told = try #require(SecKeyCopyAttributes(key) as? [String: Any])
            #expect(told[kSecAttrTokenID as String] as? String == "com.apple.setoken")
            #expect(told[kSecAttrKeyType as String] as? String == "73")
            #expect(told[kSecAttrKeyClass as String] as? String == "1")
            #expect(told[kSecAttrKeySizeInBits as String] as? Int == 256)
            #expect(told[kSecAttrIsExtractable as String] as? Bool == false)
            let label = told[kSecAttrApplicationLabel as String] as? Data
            #expect(label?.count == 20)
            let half = SecKeyCopyAttributes(try publicKey(key)) as? [String: Any]
            #expect(half?[kSecAttrApplicationLabel as String] as? Data == label)
        }
    }

    @Test(
        arguments: [
            (["bsiz": 384, "tkid": "com.apple.setoken", "type": "73"], errSecUnimplemented),
            (["bsiz": 2048, "tkid": "com.apple.setoken", "type": "42"], errSecUnimplemented),
            (["bsiz": 256, "tkid": "org.example.other", "type": "73"], errSecParam),
            (["bsiz": 255, "type": "73"], errSecParam),
            (["bsiz": 512, "type": "42"], errSecParam),
            (["bsiz": 2049, "type": "42"], errSecParam),
            (["bsiz": "many", "type": "73"], errSecParam),
            (["bsiz": 256], errSecParam),
            (["type": "73"], errSecParam),
            (["bsiz": 256, "type": "17"], errSecUnimplemented),
            (["bsiz": 256, "type": "73", "private": "text"], errSecParam),
            (["bsiz": 256, "type": "73", "private": ["accc": "text"]], errSecParam),
            (["bsiz": 256, "type": "73", "private": ["u_AuthCtx": "text"]], errSecParam),
            (["bsiz": 256, "type": "73", "private": ["perm": "text"]], errSecParam),
            (["bsiz": 256, "type": "73", "private": ["atag": 7]], errSecParam),
        ] as [([String: any Sendable], OSStatus)]
    )
    func `parameters that make no sense are refused`(parameters: [String: any Sendable], wanted: OSStatus) {
        onPretendedChip { _ in
            let made = outcome { SecKeyCreateRandomKey(parameters as [String: Any] as CFDictionary, $0) }
            #expect(made.code == status(wanted))
        }
    }

    @Test func `privateKeyUsage is for keys in the chip, and those that are guarded need it`() throws {
        try onPretendedChip { _ in
            #expect(throws: NSError.self) { try chipKey(.userPresence) }
            _ = try chipKey([.userPresence, .privateKeyUsage])
            let access = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .privateKeyUsage, nil)
            )
            let query: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrAccessControl: access],
            ]
            #expect(
                outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.code == status(errSecParam)
            )
        }
    }

    @Test(
        arguments: [
            (.noChip, errSecNotAvailable), (.passcodeNotSet, errSecNotAvailable), (.chipFailed, errSecIO),
            (.chipLockedOut, errSecAuthFailed),
        ] as [(ServiceError.Code, OSStatus)]
    )
    func `what the vault says when a key is made is a status`(code: ServiceError.Code, wanted: OSStatus) {
        onPretendedChip { chip in
            chip.refuse(with: ServiceError(code))
            let query: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            ]
            #expect(outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.code == status(wanted))
        }
    }

    @Test func `a pair is made of both halves`() throws {
        var (half, whole): (SecKey?, SecKey?)
        let query: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: "256"]
        #expect(SecKeyGeneratePair(query as CFDictionary, &half, &whole) == errSecSuccess)
        #expect(try publicKey(#require(whole)) == half)
        #expect(SecKeyGeneratePair([:], &half, &whole) == errSecParam)
    }

    private func remade(_ data: Data, _ kind: CFString, _ half: CFString) -> Result<SecKey, NSError> {
        let attributes: [CFString: Any] = [kSecAttrKeyType: kind, kSecAttrKeyClass: half]
        return outcome { SecKeyCreateWithData(data as CFData, attributes as CFDictionary, $0) }
    }
}
