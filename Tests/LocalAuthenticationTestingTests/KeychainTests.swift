// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import KeychainServices
import LocalAuthentication
import LocalAuthenticationTesting
import Testing

/// The keychain on a made-up machine refuses as on a real one.
@Suite struct MadeUpKeychainTests {
    @Test func `an item for the present set of fingers is gone after another was added`() async throws {
        let device = TestDevice()
        try await device.run {
            try #expect(add(.biometryCurrentSet) == errSecSuccess)
            device.next(.match)
            #expect(read() == (errSecSuccess, Data("secret".utf8)))
            device.next(.cancel)
            #expect(read().0 == errSecUserCanceled)
            device.addFinger(.leftIndex)
            device.next(.match)
            #expect(read().0 == errSecItemNotFound)
        }
    }

    @Test func `a context that was evaluated reads without another prompt, and an ended one not at all`()
        async throws
    {
        let device = TestDevice()
        try await device.run {
            try #expect(add(.userPresence) == errSecSuccess)
            let context = LAContext()
            device.next(.match)
            let access = try control(.userPresence)
            #expect(
                try await context.evaluateAccessControl(access, operation: .useItem, localizedReason: "read")
            )
            #expect(read(context).0 == errSecSuccess)
            #expect(device.prompts.count == 1)
            context.invalidate()
            #expect(read(context).0 == errSecAuthFailed)
        }
    }

    @Test func `a finger that was shown counts for as long as it is enrolled, also for what was made later`()
        async throws
    {
        let device = TestDevice(fingers: [.rightIndex, .leftIndex])
        try await device.run {
            let context = LAContext()
            device.next(.finger(.rightIndex))
            #expect(
                try await context.evaluatePolicy(
                    .deviceOwnerAuthenticationWithBiometrics,
                    localizedReason: "r"
                )
            )
            device.addFinger(.leftThumb)
            try #expect(add(.biometryCurrentSet) == errSecSuccess)
            #expect(read(context).0 == errSecSuccess)
            #expect(device.prompts.count == 1)
            SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary)
            try #expect(add(.biometryAny) == errSecSuccess)
            device.removeFinger(.rightIndex)
            device.next(.cancel)
            #expect(read(context).0 == errSecUserCanceled)
            #expect(device.prompts.count == 2)
        }
    }

    @Test func `without a finger nothing is made for the present set`() async throws {
        try await TestDevice(fingers: []).run {
            try #expect(add(.biometryCurrentSet) == errSecNotAvailable)
        }
    }

    @Test func `an application password opens an item, and another one does not`() async throws {
        let device = TestDevice()
        try await device.run {
            let context = LAContext()
            context.setCredential(Data("right".utf8), type: .applicationPassword)
            try #expect(add(.applicationPassword, context) == errSecSuccess)
            #expect(read(context) == (errSecSuccess, Data("secret".utf8)))
            context.setCredential(Data("wrong".utf8), type: .applicationPassword)
            #expect(read(context).0 == errSecAuthFailed)
            #expect(device.prompts.isEmpty)
        }
    }

    @Test func `an item for the passcode takes it and no finger`() async throws {
        let device = TestDevice()
        try await device.run {
            try #expect(add(.devicePasscode) == errSecSuccess)
            device.next(.match, .passcode("wrong"), .passcode(TestDevice.usualPasscode))
            #expect(read().0 == errSecSuccess)
            #expect(device.prompts.map(\.asksForFinger) == [false])
        }
    }

    @Test func `what the made-up chip has sealed is read back by it, and is nothing elsewhere`() async throws
    {
        let device = TestDevice()
        let stored = try await device.run {
            let made = try SecKey.inChip(.unguarded, nil)
            for context in [nil, LAContext()] {
                let again = try SecKey.inChip(made.dataRepresentation, context)
                #expect(again.publicKey == made.publicKey)
                #expect(
                    SecKeyCreateSignature(again.key, .ecdsaSignatureMessageX962SHA256, NSData(), nil) != nil
                )
            }
            #expect(throws: NSError.self) { try SecKey.inChip(made.dataRepresentation + [0], nil) }
            #expect(throws: NSError.self) { try SecKey.inChip(Data(), nil) }
            return made.dataRepresentation
        }
        let error = #expect(throws: NSError.self) { try SecKey.inChip(stored, nil) }
        #expect(error?.code == Int(errSecDecode))
    }

    @Test func `an item for as long as a passcode is set is there while one is`() async throws {
        let device = TestDevice()
        try await device.run {
            let bound = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            try #expect(add(.biometryAny, accessible: bound) == errSecSuccess)
            device.next(.match)
            #expect(read() == (errSecSuccess, Data("secret".utf8)))
            device.removePasscode()
            #expect(read().0 == errSecItemNotFound)
            try #expect(add(.biometryAny, accessible: bound) == errSecNotAvailable)
            device.setPasscode("1357")
            #expect(read().0 == errSecItemNotFound, "it does not come back")
            try #expect(add(.biometryAny, accessible: bound) == errSecSuccess)
        }
    }

    private func control(
        _ flags: SecAccessControlCreateFlags,
        accessible: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    ) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, accessible, flags, nil))
    }

    private func add(
        _ flags: SecAccessControlCreateFlags,
        _ context: LAContext? = nil,
        accessible: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    ) throws -> OSStatus {
        var item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "test", kSecAttrAccount: "me",
            kSecValueData: Data("secret".utf8),
            kSecAttrAccessControl: try control(flags, accessible: accessible),
        ]
        item[kSecUseAuthenticationContext] = context
        return SecItemAdd(item as CFDictionary, nil)
    }

    private func read(_ context: LAContext? = nil) -> (OSStatus, Data?) {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "test", kSecReturnData: true,
        ]
        query[kSecUseAuthenticationContext] = context
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }
}
