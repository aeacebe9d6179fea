// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// Values for each key of a keychain dictionary.
enum KeySamples {
    struct Sample {
        let key: CFString
        /// What an item is added with.
        let value: Any
        /// What no item has; `nil` for keys that are no property of an item.
        let other: Any?

        /// Whether the key says by itself which item is meant.
        var namesItself: Bool { key == kSecValuePersistentRef || key == kSecValueRef }
        /// What a call that gives attributes gives for it.
        var stored: NSObject? { value as? NSObject }

        /// The value that the stored item has, where nobody chooses it.
        func known(_ read: () -> NSObject?) throws -> Any {
            key == kSecValuePersistentRef ? try #require(read()) : value
        }
    }

    nonisolated(unsafe) static let classes: [String: CFString] = [
        "any": kSecClassGenericPassword, "password": kSecClassGenericPassword,
        "generic": kSecClassGenericPassword, "internet": kSecClassInternetPassword, "key": kSecClassKey,
        "certificate": kSecClassCertificate,
    ]

    static let statuses: [String: OSStatus] = [
        "taken": errSecSuccess, "ignored": errSecSuccess, "errSecParam": errSecParam,
        "errSecNoSuchAttr": errSecNoSuchAttr, "errSecUnimplemented": errSecUnimplemented,
        "errSecItemNotFound": errSecItemNotFound,
    ]

    static func sample(_ name: String, of item: String) throws -> Sample {
        let (key, value, other) = try #require(keys[name], "\(name) has no sample")
        guard item == "certificate", key != kSecAttrLabel, !name.hasPrefix("kSecMatch") else {
            return Sample(key: key, value: value, other: other)
        }
        // A certificate says itself what it is.
        let own = try #require(certificate.attributes[key as String])
        let another: Any = own is NSData ? Data([9]) : 99
        return Sample(key: key, value: own, other: another)
    }

    static func item(_ kind: String) throws -> [CFString: Any] {
        var item: [CFString: Any] = [kSecClass: classes[kind] ?? "", kSecValueData: Data([1])]
        if kind == "certificate" { item[kSecValueData] = certificate.bytes }
        return item
    }

    /// The value with which a key is made, if it differs from the one with which an item is added; the stored key has it.
    nonisolated(unsafe) static let ofNewKeys: [String: Any] = [
        "kSecAttrLabel": "label", "kSecAttrAccessible": kSecAttrAccessibleWhenUnlocked,
        "kSecAttrAccessGroup": "shared", "kSecAttrSynchronizable": 1, "kSecAttrKeyType": kSecAttrKeyTypeEC,
        "kSecAttrType": kSecAttrKeyTypeEC,
        "kSecAttrApplicationLabel": Data([1]), "kSecAttrApplicationTag": Data([1]),
        "kSecAttrKeySizeInBits": 256, "kSecAttrIsPermanent": 1,
        "kSecPublicKeyAttrs": [kSecAttrIsPermanent: true] as NSDictionary,
    ]

    /// A certificate, and what is stored of it.
    nonisolated(unsafe) private static let certificate: (bytes: Data, attributes: [String: NSObject]) = {
        guard let bytes = try? certificateBytes(serial: 7), let bench = try? KeychainBench() else {
            return (Data(), [:])
        }
        return bench.run {
            let item: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecValueData: bytes, kSecReturnAttributes: true,
            ]
            var added: CFTypeRef?
            SecItemAdd(item as CFDictionary, &added)
            return (bytes, added as? [String: NSObject] ?? [:])
        }
    }()

    private static let access = control([.userPresence])
    private static let key = try? softwareKey(256)
    private static let otherKey = try? softwareKey(256)

    /// The key, a value that an item has, and one that it has not.
    nonisolated(unsafe) static let keys: [String: (CFString, Any, Any?)] = [
        // Of every item
        "kSecClass": (kSecClass, kSecClassGenericPassword, nil),
        "kSecAttrAccessible": (kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAlways),
        "kSecAttrAccessControl": (kSecAttrAccessControl, access, control([])),
        "kSecAttrAccessGroup": (kSecAttrAccessGroup, "org.example.app", "shared"),
        "kSecAttrSynchronizable": (kSecAttrSynchronizable, 1, 0),
        "kSecAttrLabel": (kSecAttrLabel, "label", "other"),
        "kSecAttrCreationDate": (kSecAttrCreationDate, date(1), date(2)),
        "kSecAttrModificationDate": (kSecAttrModificationDate, date(1), date(2)),
        "kSecAttrSyncViewHint": (kSecAttrSyncViewHint, "view", "other"),
        "kSecAttrAccess": (kSecAttrAccess, "x", nil),
        "kSecAttrPersistentReference": (kSecAttrPersistentReference, Data([1]), nil),
        "kSecAttrPersistantReference": (kSecAttrPersistantReference, Data([1]), nil),
        "kSecSharedPassword": (kSecSharedPassword, "x", nil),
        // Of passwords
        "kSecAttrDescription": (kSecAttrDescription, "text", "other"),
        "kSecAttrComment": (kSecAttrComment, "text", "other"),
        "kSecAttrCreator": (kSecAttrCreator, 1, 2),
        "kSecAttrType": (kSecAttrType, 1, 2),
        "kSecAttrScriptCode": (kSecAttrScriptCode, 1, 2),
        "kSecAttrIsInvisible": (kSecAttrIsInvisible, 1, 0),
        "kSecAttrIsNegative": (kSecAttrIsNegative, 1, 0),
        "kSecAttrAccount": (kSecAttrAccount, "ada", "other"),
        "kSecAttrService": (kSecAttrService, "mail", "other"),
        "kSecAttrGeneric": (kSecAttrGeneric, Data([1]), Data([2])),
        "kSecAttrServer": (kSecAttrServer, "example.org", "other"),
        "kSecAttrSecurityDomain": (kSecAttrSecurityDomain, "realm", "other"),
        "kSecAttrProtocol": (kSecAttrProtocol, kSecAttrProtocolHTTPS, kSecAttrProtocolFTP),
        "kSecAttrAuthenticationType": (
            kSecAttrAuthenticationType, kSecAttrAuthenticationTypeHTMLForm, kSecAttrAuthenticationTypeDPA
        ),
        "kSecAttrPort": (kSecAttrPort, 443, 80),
        "kSecAttrPath": (kSecAttrPath, "/", "/other"),
        // Of keys
        "kSecAttrKeyClass": (kSecAttrKeyClass, kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic),
        "kSecAttrKeyType": (kSecAttrKeyType, kSecAttrKeyTypeRSA, kSecAttrKeyTypeEC),
        "kSecAttrApplicationLabel": (kSecAttrApplicationLabel, Data([1]), Data([2])),
        "kSecAttrApplicationTag": (kSecAttrApplicationTag, Data([1]), Data([2])),
        "kSecAttrKeySizeInBits": (kSecAttrKeySizeInBits, 8, 9),
        "kSecAttrEffectiveKeySize": (kSecAttrEffectiveKeySize, 8, 9),
        "kSecAttrIsPermanent": (kSecAttrIsPermanent, 1, 0),
        "kSecAttrIsSensitive": (kSecAttrIsSensitive, 1, 0),
        "kSecAttrIsExtractable": (kSecAttrIsExtractable, 1, 0),
        "kSecAttrCanEncrypt": (kSecAttrCanEncrypt, 1, 0),
        "kSecAttrCanDecrypt": (kSecAttrCanDecrypt, 1, 0),
        "kSecAttrCanDerive": (kSecAttrCanDerive, 1, 0),
        "kSecAttrCanSign": (kSecAttrCanSign, 1, 0),
        "kSecAttrCanVerify": (kSecAttrCanVerify, 1, 0),
        "kSecAttrCanWrap": (kSecAttrCanWrap, 1, 0),
        "kSecAttrCanUnwrap": (kSecAttrCanUnwrap, 1, 0),
        "kSecAttrTokenID": (kSecAttrTokenID, kSecAttrTokenIDSecureEnclave, "other"),
        "kSecPrivateKeyAttrs": (kSecPrivateKeyAttrs, [:] as NSDictionary, nil),
        "kSecPublicKeyAttrs": (kSecPublicKeyAttrs, [:] as NSDictionary, nil),
        "kSecAttrPRF": (kSecAttrPRF, "x", nil),
        "kSecAttrSalt": (kSecAttrSalt, Data([1]), nil),
        "kSecAttrRounds": (kSecAttrRounds, 1, nil),
        // Of certificates
        "kSecAttrCertificateType": (kSecAttrCertificateType, 3, 1),
        "kSecAttrCertificateEncoding": (kSecAttrCertificateEncoding, 3, 1),
        "kSecAttrSubject": (kSecAttrSubject, Data([1]), Data([2])),
        "kSecAttrIssuer": (kSecAttrIssuer, Data([1]), Data([2])),
        "kSecAttrSerialNumber": (kSecAttrSerialNumber, Data([1]), Data([2])),
        "kSecAttrSubjectKeyID": (kSecAttrSubjectKeyID, Data([1]), Data([2])),
        "kSecAttrPublicKeyHash": (kSecAttrPublicKeyHash, Data([1]), Data([2])),
        // Values
        "kSecValueData": (kSecValueData, Data([1]), Data([2])),
        "kSecValueRef": (kSecValueRef, key as Any, otherKey),
        "kSecValuePersistentRef": (
            kSecValuePersistentRef, Data("genp\0\0\0\0\0\0\0\u{1}".utf8), Data("genp\0\0\0\0\0\0\0\0".utf8)
        ),
        // Results
        "kSecReturnData": (kSecReturnData, true, nil),
        "kSecReturnAttributes": (kSecReturnAttributes, true, nil),
        "kSecReturnRef": (kSecReturnRef, true, nil),
        "kSecReturnPersistentRef": (kSecReturnPersistentRef, true, nil),
        // Matching
        "kSecMatchLimit": (kSecMatchLimit, kSecMatchLimitAll, nil),
        "kSecMatchCaseInsensitive": (kSecMatchCaseInsensitive, true, nil),
        "kSecMatchDiacriticInsensitive": (kSecMatchDiacriticInsensitive, true, nil),
        "kSecMatchWidthInsensitive": (kSecMatchWidthInsensitive, true, nil),
        "kSecMatchSearchList": (kSecMatchSearchList, [] as NSArray, nil),
        "kSecMatchPolicy": (kSecMatchPolicy, "x", nil),
        "kSecMatchItemList": (kSecMatchItemList, [] as NSArray, nil),
        "kSecMatchIssuers": (
            kSecMatchIssuers, [certificate.attributes["issr"] ?? NSData()] as NSArray,
            [Data([0x30, 0])] as NSArray
        ),
        "kSecMatchEmailAddressIfPresent": (kSecMatchEmailAddressIfPresent, "x", nil),
        "kSecMatchSubjectContains": (kSecMatchSubjectContains, "d", "x"),
        "kSecMatchSubjectStartsWith": (kSecMatchSubjectStartsWith, "ad", "x"),
        "kSecMatchSubjectEndsWith": (kSecMatchSubjectEndsWith, "da", "x"),
        "kSecMatchSubjectWholeString": (kSecMatchSubjectWholeString, "ada", "ad"),
        "kSecMatchTrustedOnly": (kSecMatchTrustedOnly, true, nil),
        "kSecMatchValidOnDate": (kSecMatchValidOnDate, NSDate(), date(1)),
        // How it is done
        "kSecUseAuthenticationContext": (kSecUseAuthenticationContext, LAContext(), nil),
        "kSecUseAuthenticationUI": (kSecUseAuthenticationUI, kSecUseAuthenticationUIFail, nil),
        "kSecUseNoAuthenticationUI": (kSecUseNoAuthenticationUI, true, nil),
        "kSecUseOperationPrompt": (kSecUseOperationPrompt, "why", nil),
        "kSecUseDataProtectionKeychain": (kSecUseDataProtectionKeychain, true, nil),
        "kSecUseKeychain": (kSecUseKeychain, "x", nil),
        "kSecUseItemList": (kSecUseItemList, [] as NSArray, nil),
    ]

    private static func date(_ seconds: Double) -> NSDate { NSDate(timeIntervalSince1970: seconds) }
}
