// SPDX-License-Identifier: Apache-2.0

import CryptoKit
import LocalAuthentication
import Security

func items() -> String {
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "example.org",
        String(kSecAttrAccount): "ada",
    ]
    var statuses = [SecItemAdd(query.merging(["v_Data": Data("one".utf8)]) { $1 } as CFDictionary, nil)]
    statuses.append(SecItemUpdate(query as CFDictionary, [kSecValueData: Data("two".utf8)] as CFDictionary))

    let objects: [String: AnyObject] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "example.org" as NSString,
        kSecReturnData as String: kCFBooleanTrue,
        kSecReturnAttributes as String: kCFBooleanTrue,
        kSecMatchLimit as String: kSecMatchLimitOne,
    ]
    var item: CFTypeRef?
    let copy: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemCopyMatching
    statuses.append(copy(objects as CFDictionary, &item))
    let found = item as? [String: Any]
    let value = (found?[kSecValueData as String] as? Data).map { String(decoding: $0, as: UTF8.self) }

    let all: NSDictionary = [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
    ]
    var list: AnyObject?
    statuses.append(SecItemCopyMatching(all, &list))
    let accounts = (list as? [[String: Any]])?.compactMap { $0[kSecAttrAccount as String] as? String }
    statuses.append(SecItemDelete(query as CFDictionary))
    statuses.append(SecItemDelete(query as CFDictionary))
    return "\(statuses) \(value ?? "none") \(accounts ?? [])"
}

func guardedItem() -> String {
    var error: Unmanaged<CFError>?
    guard
        let access = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
            .biometryCurrentSet,
            &error
        )
    else { return "\(error!.takeRetainedValue() as Error)" }
    let context = LAContext()
    context.localizedReason = "open the safe"
    let query: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrAccount as String: "guarded",
        kSecUseAuthenticationContext as String: context,
    ]
    let more: [String: AnyHashable] = [
        kSecAttrAccessControl as String: access, kSecValueData as String: Data("secret".utf8),
    ]
    let added = SecItemAdd(query.merging(more) { $1 } as CFDictionary, nil)
    var item: CFTypeRef?
    let found = SecItemCopyMatching(
        query.merging([kSecReturnData as String: true]) { $1 } as CFDictionary,
        &item
    )
    guard added == errSecSuccess, found == errSecSuccess, let data = item as? Data else {
        return SecCopyErrorMessageString(added == errSecSuccess ? found : added, nil) as String? ?? "\(found)"
    }
    return String(decoding: data, as: UTF8.self)
}

func key() -> String {
    func made() throws -> SecKey {
        let tag = Data("org.example.key".utf8)
        let attributes: NSDictionary = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag],
        ]
        var error: Unmanaged<CFError>?
        guard SecKeyCreateRandomKey(attributes, &error) != nil else {
            throw error!.takeRetainedValue() as Error
        }
        var item: CFTypeRef?
        let query =
            [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true] as CFDictionary
        let status = SecItemCopyMatching(query, &item)
        guard status == errSecSuccess else { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
        // The query asked for one, and there is no conditional cast to it on Apple's systems.
        // swift-format-ignore: NeverForceUnwrap
        return item as! SecKey
    }
    do {
        let key = try made()
        var error: Unmanaged<CFError>?
        let message = Data("hello".utf8)
        guard
            let signature = SecKeyCreateSignature(
                key,
                .ecdsaSignatureMessageX962SHA256,
                message as CFData,
                &error
            )
                as Data?,
            let publicKey = SecKeyCopyPublicKey(key),
            let bytes = SecKeyCopyExternalRepresentation(publicKey, &error) as Data?
        else { throw error!.takeRetainedValue() as Error }
        let other = try P256.Signing.PublicKey(x963Representation: bytes)
        let isRight = other.isValidSignature(
            try P256.Signing.ECDSASignature(derRepresentation: signature),
            for: message
        )
        return isRight ? "right" : "wrong"
    } catch {
        return error.localizedDescription
    }
}
