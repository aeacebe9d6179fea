// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// What programs use of Core Foundation beside the keychain.
@Suite struct `Core Foundation` {
    @Test func `an error that a function left tells code, domain, words and the rest`() throws {
        var left: Unmanaged<CFError>?
        #expect(SecKeyCreateRandomKey([kSecAttrKeyType: "no"] as CFDictionary, &left) == nil)
        let error = try #require(left).takeRetainedValue()
        #expect(CFErrorGetCode(error) == Int(errSecUnimplemented))
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorCopyDescription(error) as String == error.localizedDescription)
        let info = CFErrorCopyUserInfo(error) as? [String: Any]
        #expect(info?[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
        let domain: CFErrorDomain = CFErrorGetDomain(LAError(.userCancel)._nsError)
        #expect(domain as String == LAErrorDomain)
    }

    @Test func `an error is made of its domain, code and words`() throws {
        let info: CFDictionary = [NSLocalizedDescriptionKey: "No.", NSNumber(7): "no text"]
        let error = try #require(CFErrorCreate(kCFAllocatorDefault, "org.example" as CFString, 5, info))
        #expect(CFErrorGetDomain(error) as String == "org.example")
        #expect(CFErrorGetCode(error) == 5)
        #expect(CFErrorCopyDescription(error) as String == "No.")
        #expect(CFErrorCopyUserInfo(error).count == 1)
        #expect(CFErrorCopyUserInfo(CFErrorCreate(nil, "org.example" as CFString, 5, nil)).count == 0)
        #expect(CFErrorCreate(nil, nil, 5, nil) == nil)
        let thrown = error as any Error
        #expect((thrown as NSError).code == 5)
    }

    @Test func `bytes are read where they are`() throws {
        for bytes in [[1, 2, 3], [UInt8](repeating: 7, count: 1000), []] {
            let data = Data(bytes) as CFData
            let start = try #require(CFDataGetBytePtr(data))
            let read = withExtendedLifetime(data) {
                Array(UnsafeBufferPointer(start: start, count: CFDataGetLength(data)))
            }
            #expect(read == bytes)
        }
        #expect(CFDataGetBytePtr(nil) == nil)
        #expect(CFDataGetLength(nil) == 0)
    }

    @Test func `identifiers differ, and are written in capital letters`() throws {
        let (one, other) = (CFUUIDCreate(nil), CFUUIDCreate(kCFAllocatorDefault))
        let text = try #require(CFUUIDCreateString(nil, one)) as String
        #expect(text.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
        #expect(text != CFUUIDCreateString(kCFAllocatorDefault, other) as String)
        #expect(UUID(uuidString: text) != nil)
        #expect(CFUUIDCreateString(nil, nil) == nil)
    }

    @Test func `Booleans have a type of their own, and the keychain takes them`() throws {
        #expect(CFBooleanGetValue(kCFBooleanTrue))
        #expect(!CFBooleanGetValue(kCFBooleanFalse) && !CFBooleanGetValue(nil))
        #expect(kCFBooleanTrue == true as CFBoolean && kCFBooleanTrue != kCFBooleanFalse)
        #expect(Set([kCFBooleanTrue, true as CFBoolean, kCFBooleanFalse]).count == 2)
        #expect(CFBoolean.kind == "Boolean" && CFNumber.kind == "number" && CFSet.kind == "set")
        let held: [String: Any] = ["a": kCFBooleanTrue as Any, "b": 1 as CFNumber]
        #expect((held as CFDictionary)["a"] is CFBoolean && !((held as CFDictionary)["b"] is CFBoolean))
        let bench = try KeychainBench()
        bench.run {
            let flags: [CFString: Any] = [
                kSecAttrIsInvisible: kCFBooleanTrue!, kSecAttrIsNegative: kCFBooleanFalse!,
                kSecAttrSynchronizable: kCFBooleanTrue!, kSecReturnAttributes: kCFBooleanTrue!,
            ]
            var item: CFTypeRef?
            #expect(SecItemAdd(generic("a", flags), &item) == errSecSuccess)
            let attributes = item as? [String: Any]
            #expect(attributes?["invi"] as? Bool == true && attributes?["nega"] as? Bool == false)
            let query = generic(
                "a",
                [kSecAttrSynchronizable: kCFBooleanTrue!, kSecReturnData: kCFBooleanFalse!]
            )
            #expect(SecItemCopyMatching(query, nil) == errSecSuccess)
            let key: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: kCFBooleanTrue!],
            ]
            #expect(SecKeyCreateRandomKey(key as CFDictionary, nil) != nil)
            #expect(SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test func `bytes are copied`() {
        var bytes: [UInt8] = [1, 2, 3]
        let data = CFDataCreate(kCFAllocatorDefault, bytes, bytes.count)
        bytes[0] = 9
        #expect(data as Data? == Data([1, 2, 3]))
        #expect(CFDataCreate(nil, nil, 0) as Data? == Data())
        #expect(CFDataCreate(nil, nil, 1) == nil)
        #expect(CFDataCreate(nil, bytes, -1) == nil)
    }

    @Test func `bytes that were not copied stay with their owner, or go with the object`() {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 3)
        defer { bytes.deallocate() }
        bytes.initialize(repeating: 7, count: 3)
        do {
            let data = CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, bytes, 3, kCFAllocatorNull)
            #expect(data?.bytes == UnsafeRawPointer(bytes))
            #expect(data as Data? == Data([7, 7, 7]))
        }
        #expect(bytes[2] == 7, "it was not freed")
        let own = malloc(3).assumingMemoryBound(to: UInt8.self)
        own.initialize(repeating: 8, count: 3)
        #expect(CFDataCreateWithBytesNoCopy(nil, own, 3, kCFAllocatorMalloc) as Data? == Data([8, 8, 8]))
        #expect(CFDataCreateWithBytesNoCopy(nil, nil, 1, kCFAllocatorNull) == nil)
        #expect(CFDataCreateWithBytesNoCopy(nil, bytes, -1, kCFAllocatorNull) == nil)
    }

    @Test func `every type that a call gives has a number of its own`() throws {
        let bench = try KeychainBench()
        let (item, attributes): (CFTypeRef?, [String: AnyObject]?) = try bench.run {
            let more: [CFString: Any] = [
                kSecValueData: Data([1]), kSecAttrIsInvisible: true, kSecReturnAttributes: true,
                kSecReturnData: true,
            ]
            var item: CFTypeRef?
            #expect(SecItemAdd(generic("a", more), &item) == errSecSuccess)
            return (item, try #require(item as? [String: AnyObject]))
        }
        let key = try softwareKey(256)
        let certificate = SecCertificateCreateWithData(nil, try certificateBytes(serial: 1) as CFData)
        let found: [(CFTypeRef?, CFTypeID)] = [
            (item, CFDictionaryGetTypeID()),
            (attributes?["v_Data"], CFDataGetTypeID()),
            (attributes?["acct"], CFStringGetTypeID()),
            (attributes?["cdat"], CFDateGetTypeID()),
            (attributes?["sync"], CFNumberGetTypeID()),
            (attributes?["accc"], SecAccessControlGetTypeID()),
            ([item as Any] as CFArray, CFArrayGetTypeID()),
            (kCFBooleanTrue, CFBooleanGetTypeID()),
            (false as CFBoolean, CFBooleanGetTypeID()),
            (1 as CFNumber, CFNumberGetTypeID()),
            (Set([1, 2]) as CFSet, CFSetGetTypeID()),
            (CFUUIDCreate(nil), CFUUIDGetTypeID()),
            (NSError(domain: "a", code: 1), CFErrorGetTypeID()),
            (key, SecKeyGetTypeID()),
            (certificate, SecCertificateGetTypeID()),
        ]
        for (object, id) in found { #expect(CFGetTypeID(object) == id, "\(object as Any)") }
        #expect(Set(found.map { CFGetTypeID($0.0) }).count == found.count - 2)
        #expect(CFGetTypeID(nil) == 0)
        #expect(CFGetTypeID(NSObject()) == 0)
    }

    @Test func `four characters are a number, and a bundle has an identifier's key`() {
        let code: FourCharCode = 0x6162_6364
        #expect(code == 0x6162_6364 as OSType)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    }
}

/// What programs write: one protocol for several types, each of which conforms by itself.
private protocol Kind { static var kind: String { get } }
extension CFBoolean: Kind { fileprivate static let kind = "Boolean" }
extension CFNumber: Kind { fileprivate static let kind = "number" }
extension CFSet: Kind { fileprivate static let kind = "set" }
