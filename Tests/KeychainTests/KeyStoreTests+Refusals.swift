// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import PretendedChip
import Foundation
import KeychainServices
import Testing
import WhorlService

/// What is asked of a key is kept, or refused; it is never left out silently.
extension `Stored keys and certificates` {
    private var inChip: [CFString: Any] { [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave] }

    /// Why a key was not made; `nil` where it was.
    private func refusal(_ more: [CFString: Any], _ access: SecAccessControl? = nil) -> OSStatus? {
        do {
            _ = try permanent(more, access)
            return nil
        } catch {
            return OSStatus((error as NSError).code)
        }
    }

    private func add(_ key: SecKey, _ more: [CFString: Any] = [:]) -> OSStatus {
        let item: [CFString: Any] = [kSecClass: kSecClassKey, kSecValueRef: key]
        return SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil)
    }

    private var isEmpty: Bool {
        copy([kSecAttrSynchronizable: kSecAttrSynchronizableAny]).status == errSecItemNotFound
    }

    private func result(_ query: [CFString: Any]) -> AnyObject? {
        var object: CFTypeRef?
        return SecItemCopyMatching(query as CFDictionary, &object) == errSecSuccess ? object : nil
    }

    // MARK: - Protection

    @Test func `a key of the chip that lives with the passcode cannot be made without one`() throws {
        try onBench {
            let lasting = inChip.merging(
                [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]
            ) { $1 }
            #expect(refusal(lasting) == errSecNotAvailable)
            #expect(isEmpty)
            try bench.setPasscode()
            #expect(refusal(lasting) == nil)
            let query: [CFString: Any] = [
                kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                kSecReturnAttributes: true,
            ]
            #expect((copy(query).object as? [String: Any])?["pdmn"] as? String == "akpu")
        }
    }

    @Test func `a key of the chip has the access control that it was made with`() throws {
        try onBench {
            let (free, bound) = (try chipKey(), try chipKey([.privateKeyUsage, .biometryAny]))
            #expect(add(free, [kSecAttrAccessControl: guarded(.biometryAny)]) == errSecParam)
            #expect(add(bound, [kSecAttrAccessControl: control([])]) == errSecParam)
            let access = control([.privateKeyUsage, .biometryAny])
            let otherwise = inChip.merging([kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]) { $1 }
            #expect(refusal(otherwise, access) == errSecParam)
            #expect(isEmpty)
            #expect(add(bound, [kSecAttrAccessControl: access]) == errSecSuccess)
            #expect(add(free) == errSecSuccess)
        }
    }

    @Test func `a key that is guarded or in the chip cannot be synchronizable`() throws {
        try onBench {
            let leaving: [CFString: Any] = [kSecAttrSynchronizable: true]
            let (bound, free) = (try chipKey([.privateKeyUsage, .biometryAny]), try chipKey())
            let software = try softwareKey(256)
            #expect(add(bound, leaving) == errSecParam)
            #expect(add(free, leaving) == errSecParam)
            #expect(refusal(inChip.merging(leaving) { $1 }, guarded(.biometryAny)) == errSecParam)
            #expect(refusal(leaving, control(.biometryAny)) == errSecParam)
            #expect(isEmpty)
            #expect(add(software, leaving) == errSecSuccess)
        }
    }

    @Test func `a key of this process takes the access control that it is added with`() throws {
        try onBench {
            #expect(refusal([:]) == nil)
            let found = try #require(find())
            #expect(SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) == errSecSuccess)
            #expect(add(found, [kSecAttrAccessControl: control(.biometryAny)]) == errSecSuccess)
            chip.fail(with: .userCancel)
            #expect(copy([kSecReturnRef: true]).status == errSecUserCanceled)
        }
    }

    // MARK: - References

    @Test(arguments: [kSecClassCertificate, kSecClassIdentity, kSecClassGenericPassword].map { "\($0)" })
    func `a key is never looked for under another class`(_ itemClass: String) throws {
        try onBench {
            let key = try softwareKey(256)
            #expect(add(key) == errSecSuccess)
            let query = [kSecClass: itemClass, kSecValueRef: key] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecParam)
            #expect(SecItemUpdate(query, [kSecAttrLabel: "l"] as CFDictionary) == errSecParam)
            #expect(SecItemDelete(query) == errSecParam)
            #expect(SecItemAdd(query, nil) == errSecParam)
            #expect(SecItemCopyMatching([kSecValueRef: key] as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test func `without a class, attributes beside a key are read as a key's`() throws {
        try onBench {
            for (key, type) in [
                (try softwareKey(256), kSecAttrKeyTypeEC),
                (try softwareKey(kSecAttrKeyTypeRSA, 2048), kSecAttrKeyTypeRSA),
            ] {
                let number = try #require(Int("\(type)"))
                let item = [kSecValueRef: key, kSecAttrKeyType: number] as CFDictionary
                #expect(SecItemAdd(item, nil) == errSecSuccess)
                #expect(copy([kSecAttrKeyType: type, kSecReturnRef: true]).object as? SecKey == key)
                #expect(SecItemDelete(item) == errSecSuccess)
            }
        }
    }

    @Test func `a tag that is a text is the same as its bytes`() throws {
        try onBench {
            let text = "org.example.text"
            let query: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: text],
            ]
            let made = try outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }.get()
            for tag in [text, Data(text.utf8)] as [Any] {
                let found = copy([kSecAttrApplicationTag: tag, kSecReturnRef: true]).object
                #expect(found as? SecKey == made)
            }
            let half = try publicKey(made)
            #expect(add(half, [kSecAttrApplicationTag: text]) == errSecSuccess)
            let all: [CFString: Any] = [
                kSecAttrApplicationTag: Data(text.utf8), kSecMatchLimit: 9, kSecReturnRef: true,
            ]
            #expect((copy(all).object as? [SecKey])?.count == 2)
            let tagged = [kSecClass: kSecClassKey, kSecAttrApplicationTag: text] as CFDictionary
            #expect(SecItemDelete(tagged) == errSecSuccess)
            #expect(isEmpty)
        }
    }

    // MARK: - Changing

    @Test func `a dead key is not changed, and stays until its owner deletes it`() throws {
        try onBench {
            _ = try permanent(inChip, guarded(.biometryCurrentSet))
            let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag] as CFDictionary
            let label = [kSecAttrLabel: "l"] as CFDictionary
            #expect(SecItemUpdate(query, label) == errSecSuccess)
            // What is guarded is the use of the private half, and no change touches it.
            #expect(chip.prompts == 0)
            chip.addFinger()
            #expect(SecItemUpdate(query, label) == errSecItemNotFound)
            #expect(SecItemDelete(query) == errSecSuccess)
        }
    }

    @Test func `a certificate becomes another one, and nothing else`() throws {
        try onBench {
            let (old, new) = (try certificateBytes(serial: 77), try certificateBytes(serial: 78))
            let certificates: [CFString: Any] = [kSecClass: kSecClassCertificate]
            func found(_ serial: UInt8) -> SecCertificate? {
                let query: [CFString: Any] = [kSecAttrSerialNumber: Data([serial]), kSecReturnRef: true]
                return result(certificates.merging(query) { $1 }) as? SecCertificate
            }
            let item = certificates.merging([kSecValueData: old, kSecAttrLabel: "mine"]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            func change(_ bytes: Data) -> OSStatus {
                SecItemUpdate(certificates as CFDictionary, [kSecValueData: bytes] as CFDictionary)
            }
            #expect(change(old.dropLast()) == errSecDecode)
            #expect(found(77) == SecCertificateCreateWithData(nil, old as CFData))
            #expect(change(new) == errSecSuccess)
            #expect(found(78) == SecCertificateCreateWithData(nil, new as CFData))
            #expect(found(77) == nil)
            let named = certificates.merging([kSecAttrLabel: "mine"]) { $1 }
            #expect(SecItemCopyMatching(named as CFDictionary, nil) == errSecSuccess)
        }
    }
}
