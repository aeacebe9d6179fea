// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

extension Idiom {
    private static var message: CFData { Data("message".utf8) as CFData }

    static let creating = [
        Idiom(.create, "a key of this process signs, and its public half verifies") { place in
            let key = try place.make(place.key())
            let half = try place.unwrap(SecKeyCopyPublicKey(key))
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            try place.expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            var error: Unmanaged<CFError>?
            let signature = try place.unwrap(SecKeyCreateSignature(key, algorithm, message, &error))
            try place.expect(SecKeyVerifySignature(half, algorithm, message, signature, &error))
            let other = Data("other".utf8) as CFData
            try place.expect(!SecKeyVerifySignature(half, algorithm, other, signature, nil))
        },
        Idiom(.create, "a permanent key is found by its tag") { place in
            let key = try place.make(place.key(lasting: true))
            let query: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: place.tag,
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecReturnRef as String: true,
            ]
            var item: CFTypeRef?
            try place.expect(SecItemCopyMatching(query as CFDictionary, &item))
            // swift-format-ignore: NeverForceUnwrap
            try place.expect(item as! SecKey == key)
        },
        Idiom(.create, "an RSA key and the bytes of its public half") { place in
            let key = try place.make(place.key(kSecAttrKeyTypeRSA, 2048))
            let half = try place.unwrap(SecKeyCopyPublicKey(key))
            var error: Unmanaged<CFError>?
            let bytes = try place.unwrap(SecKeyCopyExternalRepresentation(half, &error)) as Data
            try place.expect(bytes.count == 270 && SecKeyGetBlockSize(half) == 256)
        },
        Idiom(.create, "a pair with one call") { place in
            var (half, whole): (SecKey?, SecKey?)
            try place.expect(SecKeyGeneratePair(place.key() as CFDictionary, &half, &whole))
            try place.expect(SecKeyCopyPublicKey(try place.unwrap(whole)) == half)
        },
        Idiom(.create, "a key of the chip, or of this process without a chip") { place in
            var parameters = place.key()
            parameters[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave
            var error: Unmanaged<CFError>?
            if SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil {
                let failure = try place.unwrap(error?.takeRetainedValue())
                try place.expect(CFErrorGetCode(failure) == Int(errSecNotAvailable))
                parameters[kSecAttrTokenID as String] = nil
                _ = try place.make(parameters)
            }
        },
        Idiom(.create, "a size as text, and a type as a number") { place in
            var parameters = place.key()
            parameters[kSecAttrKeySizeInBits as String] = "384"
            parameters[kSecAttrKeyType as String] = 73
            let told = SecKeyCopyAttributes(try place.make(parameters)) as? [CFString: Any]
            try place.expect(told?[kSecAttrKeySizeInBits] as? Int == 384)
        },
        Idiom(.create, "the bytes of a key make it again") { place in
            let key = try place.make(place.key())
            let bytes = try place.unwrap(SecKeyCopyExternalRepresentation(key, nil))
            let attributes: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            ]
            try place.expect(SecKeyCreateWithData(bytes, attributes as CFDictionary, nil) == key)
        },
        Idiom(.create, "what the public half encrypts, the key decrypts") { place in
            let key = try place.make(place.key())
            let half = try place.unwrap(SecKeyCopyPublicKey(key))
            let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let cipher = try place.unwrap(SecKeyCreateEncryptedData(half, algorithm, message, nil))
            let plain = try place.unwrap(SecKeyCreateDecryptedData(key, algorithm, cipher, nil))
            try place.expect(plain as Data == message as Data)
        },
        Idiom(.create, "two keys agree on a secret") { place in
            let (one, other) = (try place.make(place.key()), try place.make(place.key()))
            let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandard
            func agreed(_ key: SecKey, _ other: SecKey) throws -> Data {
                let half = try place.unwrap(SecKeyCopyPublicKey(other))
                return try place.unwrap(
                    SecKeyCopyKeyExchangeResult(key, algorithm, half, [:] as CFDictionary, nil)
                ) as Data
            }
            try place.expect(agreed(one, other) == agreed(other, one))
        },
        Idiom(.create, "delete by the tag, then make another one") { place in
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: place.tag, kSecReturnRef: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            for _ in 0..<2 {
                SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: place.tag] as CFDictionary)
                _ = try place.make(place.key(lasting: true))
                var found: CFTypeRef?
                try place.expect(SecItemCopyMatching(query as CFDictionary, &found))
                try place.expect((found as? [SecKey])?.count == 1)
            }
        },
        Idiom(.create, "an error tells its domain and code") { place in
            var error: Unmanaged<CFError>?
            let wrong = [kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom] as CFDictionary
            try place.expect(SecKeyCreateRandomKey(wrong, &error) == nil)
            // swift-format-ignore: NeverForceUnwrap
            let failure = error!.takeRetainedValue() as any Error
            try place.expect((failure as NSError).domain == NSOSStatusErrorDomain)
            try place.expect((failure as NSError).code == Int(errSecParam))
        },
    ]
}
