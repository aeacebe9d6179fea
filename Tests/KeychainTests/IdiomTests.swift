// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import PretendedChip
import KeychainServices
import LocalAuthentication
import Synchronization
import Testing
import WhorlService

/// The ways in which programs for Apple's systems write it.
@Suite struct `Idioms` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    @Test func `keys as text, as constants, and mixed in one literal`() {
        let mixed: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount as String: "a",
            String(kSecAttrService): "s", "v_Data": Data([1]),
        ]
        let literal: NSDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", "r_Data": true,
        ]
        let objects: [String: AnyObject] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "s" as NSString,
            kSecReturnData as String: kCFBooleanTrue, kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        bench.run {
            #expect(SecItemAdd(mixed as CFDictionary, nil) == errSecSuccess)
            #expect(find(literal).object as? Data == Data([1]))
            #expect(find(objects as CFDictionary).object as? Data == Data([1]))
            var item: AnyObject?
            let status = withUnsafeMutablePointer(to: &item) {
                SecItemCopyMatching(objects as CFDictionary, $0)
            }
            #expect(status == noErr)
            #expect(item as? Data == Data([1]))
        }
    }

    @Test func `Foundation for Linux sets the traps that the porting guide names, and the cures work`() {
        enum Status: Int, CustomNSError {
            case notFound = -25300
            static var errorDomain: String { NSOSStatusErrorDomain }
            var errorCode: Int { rawValue }
        }
        let dictionary: NSDictionary = ["acct": "ada" as NSString]
        #expect(!dictionary.isEqual(to: ["acct": "ada" as NSString]))
        #expect(dictionary == ["acct": "ada" as NSString] as NSDictionary)
        let error: any Error = NSError(domain: NSOSStatusErrorDomain, code: Status.notFound.rawValue)
        #expect(!(error is Status))
        #expect((error as NSError).code == Status.notFound.rawValue)
    }

    @Test func `the functions as values`() {
        let copy: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemCopyMatching
        let delete = SecItemDelete
        bench.run {
            #expect(copy(generic("a"), nil) == errSecItemNotFound)
            #expect(delete(generic("a")) == errSecItemNotFound)
        }
    }

    @Test func `a dictionary of hashables with a context and an access control in it`() {
        bench.run {
            let query: [String: AnyHashable] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "a",
                kSecAttrAccessControl as String: control(.biometryAny),
                kSecUseAuthenticationContext as String: LAContext(),
                kSecValueData as String: Data([2]),
            ]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            #expect(bench.chip.prompts.isEmpty)
        }
    }

    @Test func `numbers of any width, and four characters as a number`() {
        bench.run {
            let code: UInt32 = 0x6162_6364
            let more: [CFString: Any] = [
                kSecAttrCreator: code, kSecAttrType: Int16(7), kSecAttrIsInvisible: kCFBooleanTrue as Any,
                kSecUseDataProtectionKeychain: true,
            ]
            #expect(SecItemAdd(generic("a", more), nil) == errSecSuccess)
            let found = find(generic("a", [kSecReturnAttributes: true, kSecAttrCreator: code])).object
            let attributes = found as? [String: Any]
            #expect(attributes?["crtr"] as? UInt32 == code)
            #expect(attributes?["type"] as? Int == 7)
            #expect(attributes?["invi"] as? Bool == true)
            #expect(attributes?["accc"] is SecAccessControl)
        }
    }

    @Test func `an error that a function leaves is thrown on, and caught by its code from any thread`() throws
    {
        try onPretendedChip { chip in
            let key = try chipKey([.privateKeyUsage, .biometryCurrentSet])
            chip.fail(with: .userCancel)
            let parts = ContextParts.current
            let caught = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 200) { _ in
                ContextParts.$ofTask.withValue(parts) {
                    do {
                        var error: Unmanaged<CFError>?
                        let digest = Data(count: 32) as CFData
                        guard
                            SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, &error) != nil
                        else {
                            throw try #require(error).takeRetainedValue() as any Error
                        }
                    } catch LAError.userCancel {
                        caught.add(1, ordering: .relaxed)
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
            #expect(caught.load(ordering: .relaxed) == 200)
        }
    }
}
