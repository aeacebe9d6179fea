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
                kSecAttrIsInvisible: true, kSecReturnAttributes: true, kSecReturnData: true,
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
