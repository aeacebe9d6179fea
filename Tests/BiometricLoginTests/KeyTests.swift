// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import WhorlFingerprint
import Foundation
import LocalAuthenticationTesting
import Testing

@Suite struct `Keys with the names of react-native-biometrics` {
    @Test func `a pair is made, signs for its owner, and is deleted`() async throws {
        let device = TestDevice()
        try await device.run { () async throws in
            let keys = BiometricKeys()
            #expect(try await keys.keysExist() == false)
            let key = try await keys.createKeys()
            #expect(try await keys.keysExist())
            #expect(try await keys.publicKey() == key)
            #expect(device.prompts.isEmpty)
            let payload = Data("epoch 1700000000".utf8)
            device.next(.match)
            let signature = try await keys.createSignature(promptMessage: "sign in", payload: payload)
            #expect(key.isValid(der: signature, over: payload))
            #expect(!key.isValid(der: signature, over: payload + [0]))
            #expect(device.prompts.map(\.reason) == ["sign in"])
            #expect(try await keys.deleteKeys())
            #expect(try await keys.deleteKeys() == false)
            #expect(
                await failure { () throws(LoginError) in
                    try await keys.createSignature(promptMessage: "p", payload: payload)
                } == .notEnabled
            )
        }
    }

    @Test func `pairs of different names are different pairs`() async throws {
        try await TestDevice().run { () async throws in
            let first = try await BiometricKeys("one").createKeys()
            let second = try await BiometricKeys("two").createKeys()
            #expect(first != second)
            try await BiometricKeys("one").deleteKeys()
            #expect(try await BiometricKeys("two").publicKey() == second)
        }
    }

    @Test func `after a finger was added the pair signs no more, and stays until another takes its place`()
        async throws
    {
        let device = TestDevice()
        try await device.run { () async throws in
            let keys = BiometricKeys()
            let first = try await keys.createKeys()
            device.addFinger(.leftThumb)
            #expect(try await keys.keysExist() == false)
            device.next(.finger(.leftThumb), .passcode(TestDevice.usualPasscode))
            #expect(
                await failure { () throws(LoginError) in
                    try await keys.createSignature(promptMessage: "p", payload: Data())
                } == .mustEnableAgain(.fingersChanged)
            )
            #expect(device.prompts.isEmpty)
            #expect(try await keys.publicKey() == first)
            let second = try await keys.createKeys()
            #expect(second != first)
            #expect(try await keys.publicKey() == second)
            #expect(try await keys.keysExist())
        }
    }

    @Test func `a prompt without a key says whether its owner was there`() async throws {
        let device = TestDevice()
        try await device.run { () async throws in
            let keys = BiometricKeys()
            device.next(.match, .cancel)
            #expect(try await keys.simplePrompt(promptMessage: "confirm"))
            #expect(try await keys.simplePrompt(promptMessage: "confirm") == false)
            device.next(.noMatch, .noMatch, .noMatch, .cancel)
            #expect((try? await keys.simplePrompt(promptMessage: "confirm")) != true)
        }
    }

    @Test func `the sensor is there, or the reason why not is typed`() async throws {
        let device = TestDevice()
        func obstacle() async -> SensorAvailability.Obstacle? {
            switch await device.run({ await BiometricKeys().isSensorAvailable() }) {
            case .available(let kind):
                #expect(kind.rawValue == "TouchID")
                return nil
            case .unavailable(let obstacle, _): return obstacle
            }
        }
        #expect(await obstacle() == nil)
        device.lockOut()
        #expect(await obstacle() == .lockedOut)
        device.unlock()
        device.denyFingers()
        #expect(await obstacle() == .optedOut)
        device.allowFingers()
        device.removeAllFingers()
        #expect(await obstacle() == .notEnrolled)
        device.unplug()
        #expect(await obstacle() == .noReader)
    }
}
