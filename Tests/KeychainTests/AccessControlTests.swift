// SPDX-License-Identifier: Apache-2.0

import KeychainServices
import Testing

@Suite struct `Access controls` {
    private static let anyPartner: [SecAccessControlCreateFlags] = [
        .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and,
    ]

    @Test func `userPresence takes no other constraint and no connective`() {
        for partner in Self.anyPartner {
            #expect(make([.userPresence, partner]) == nil)
        }
        #expect(make([.userPresence, .applicationPassword, .privateKeyUsage]) != nil)
    }

    @Test func `what excludes each other is refused, with errSecParam`() {
        for flags in [[.or, .and], [.biometryAny, .biometryCurrentSet]] as [SecAccessControlCreateFlags] {
            var error: Unmanaged<CFError>?
            #expect(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error) == nil
            )
            let given = error?.takeRetainedValue()
            #expect(given?.code == Int(errSecParam))
            #expect(given?.domain == NSOSStatusErrorDomain)
        }
    }

    @Test func `two that ask for the same are equal, however that was said`() throws {
        let make = { (flags: SecAccessControlCreateFlags) in
            try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        }
        #expect(try make([.biometryAny, .devicePasscode]) == make([.biometryAny, .devicePasscode, .and]))
        #expect(try make([.biometryAny]) == make([.biometryAny, .or]))
        #expect(try make([.biometryAny]).hash == make([.biometryAny, .or]).hash)
        #expect(try make([.biometryAny, .devicePasscode]) != make([.biometryAny, .devicePasscode, .or]))
        #expect(try make([.biometryAny]) != make([.biometryCurrentSet]))
        #expect(try make([.biometryAny]) != make([.biometryAny, .privateKeyUsage]))
    }

    @Test func `the protection is one of seven values`() {
        for value in [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ] {
            #expect(SecAccessControlCreateWithFlags(nil, value, [], nil) != nil)
        }
        #expect(SecAccessControlCreateWithFlags(nil, "other" as CFString, [], nil) == nil)
        #expect(SecAccessControlCreateWithFlags(nil, NSNumber(value: 1), [], nil) == nil)
    }

    @Test func `two are equal when protection and flags are`() throws {
        let one = try #require(make([.biometryAny, .or, .devicePasscode]))
        #expect(one == make([.devicePasscode, .or, .biometryAny]))
        #expect(one != make([.biometryAny]))
        let same = try #require(make([.biometryAny, .or, .devicePasscode]))
        #expect(AnyHashable(one) == AnyHashable(same))
    }

    private func make(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    }
}
