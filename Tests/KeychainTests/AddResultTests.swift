// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// What cannot be given is refused before anything is stored: otherwise the program would try again, and find a duplicate.
@Suite struct `What adding gives` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    private func add(_ item: CFDictionary) -> (status: OSStatus, object: AnyObject?) {
        var object: CFTypeRef?
        let status = SecItemAdd(item, &object)
        return (status, object)
    }

    private func hasNone(_ itemClass: CFString) -> Bool {
        SecItemCopyMatching([kSecClass: itemClass] as CFDictionary, nil) == errSecItemNotFound
    }

    @Test func `a password has no object`() {
        bench.run {
            #expect(add(generic("a", [kSecReturnRef: true])).status == errSecUnimplemented)
            #expect(hasNone(kSecClassGenericPassword))
            // Nothing is asked for where nothing can be left.
            #expect(SecItemAdd(generic("a", [kSecReturnRef: true]), nil) == errSecSuccess)
        }
    }

    @Test func `a guarded password without a value has an empty one`() {
        bench.run {
            let item: [CFString: Any] = [kSecAttrAccessControl: control(.biometryAny), kSecReturnData: true]
            let given = add(generic("a", item))
            #expect(given.status == errSecSuccess)
            #expect(given.object as? Data == Data())
            #expect(bench.chip.prompts.isEmpty)
        }
    }

    @Test func `a key of the chip has no data`() throws {
        let key = try onPretendedChip { _ in try chipKey() }
        bench.run {
            let item = [kSecClass: kSecClassKey, kSecValueRef: key, kSecReturnData: true] as CFDictionary
            #expect(add(item).status == errSecDataNotAvailable)
            #expect(hasNone(kSecClassKey))
        }
    }

    @Test func `bytes that are no key have no object`() {
        bench.run {
            let item: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecValueData: Data("none".utf8), kSecReturnRef: true,
            ]
            #expect(add(item as CFDictionary).status == errSecInvalidKeyRef)
            #expect(hasNone(kSecClassKey))
        }
    }

    @Test func `what is added guarded is given without asking for it`() throws {
        let key = try softwareKey(256)
        let bytes = try bytes(key)
        bench.run {
            let item: [CFString: Any] = [
                kSecValueRef: key, kSecAttrAccessControl: control(.biometryAny), kSecReturnRef: true,
                kSecReturnData: true,
            ]
            let given = add(item as CFDictionary)
            #expect(given.status == errSecSuccess)
            let both = given.object as? [String: Any]
            #expect(both?["v_Ref"] as? SecKey == key)
            #expect(both?["v_Data"] as? Data == bytes)
            #expect(bench.chip.prompts.isEmpty)
        }
    }

    @Test func `a certificate that is added guarded is given as itself`() throws {
        let der = try certificateBytes(serial: 5)
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        bench.run {
            let item: [CFString: Any] = [
                kSecValueRef: certificate, kSecAttrAccessControl: control(.biometryAny), kSecReturnRef: true,
            ]
            let given = add(item as CFDictionary)
            #expect(given.status == errSecSuccess)
            #expect(given.object as? SecCertificate == certificate)
        }
    }
}
