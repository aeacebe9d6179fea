// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import RelyingParty
import Testing

@Suite struct `The policy judges the enrolled fingers` {
    private static let other = Data(repeating: 1, count: 32)

    @Test(arguments: StoreKind.all)
    func `other fingers are refused until the device is enabled again`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        var device = Device()
        try await bank.enable(device)
        device.domainState = Self.other
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
        #expect(try await bank.reasons(device.user) == ["reenable_required", "reenable_required"])
        // The passcode does not go around it: it may be the one who enrolled the finger that types it.
        device.method = .passcode
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
        try await bank.enable(device)
        device.method = .finger
        _ = try await bank.signIn(bank.answer(device))
    }

    @Test(arguments: StoreKind.all)
    func `where the policy allows them, they sign in and are told of`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.domainStatePolicy = .allow }
        var device = Device()
        try await bank.enable(device)
        device.domainState = Self.other
        _ = try await bank.signIn(bank.answer(device))
        #expect(bank.heard.contains { if case .domainStateChanged = $0 { true } else { false } })
        // What is expected stays what it was: with the stricter policy the same fingers are refused.
        let strict = try await bank.another { $0.domainStatePolicy = .requireReenable }
        #expect(await strict.refusal(try await bank.answer(device)) == .reenableRequired)
    }

    @Test func `no fingers and the passcode are no change, and change nothing in what is expected`()
        async throws
    {
        let bank = try await Bank()
        var device = Device()
        let enrolled = device.domainState
        try await bank.enable(device)
        (device.domainState, device.method) = (nil, .passcode)
        _ = try await bank.signIn(bank.answer(device))
        device.domainState = Self.other
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
        device.domainState = enrolled
        _ = try await bank.signIn(bank.answer(device))
    }

    @Test func `the first finger of a device that was enabled without is a change`() async throws {
        let bank = try await Bank()
        var device = Device()
        (device.domainState, device.method) = (nil, .passcode)
        try await bank.enable(device)
        _ = try await bank.signIn(bank.answer(device))
        device.domainState = Self.other
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
        device.method = .finger
        #expect(await bank.refusal(try await bank.answer(device)) == .reenableRequired)
    }
}

@Suite struct `A bare signature over the challenge` {
    private func raw(
        _ bank: Bank,
        _ device: Device,
        by name: LoginName?,
        challenge: Data,
        signature: Data? = nil
    ) async throws -> RelyingPartyError.Code? {
        let signature = try signature ?? device.privateKey.signature(for: challenge).derRepresentation
        return await code { () async throws(RelyingPartyError) in
            let signIn = try await bank.party.signIn(
                user: device.user,
                device: name,
                challenge: challenge,
                signature: signature,
                from: ""
            )
            #expect(signIn.device.key == device.key)
            #expect(signIn.claims == nil)
        }
    }

    @Test(arguments: StoreKind.all)
    func `signs in by the device's name, and by any key of the user`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.domainStatePolicy = .allow }
        let (laptop, phone) = (Device("ada", "laptop"), Device("ada", "phone"))
        for device in [laptop, phone] { try await bank.enable(device) }
        for device in [laptop, phone] {
            for name in [device.name, nil] {
                let challenge = try await bank.party.rawChallenge(for: device.user, device: name, from: "")
                    .challenge
                #expect(try await raw(bank, device, by: name, challenge: challenge) == nil)
                #expect(try await raw(bank, device, by: name, challenge: challenge) == .challengeUnknown)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func `is refused from another device, user or key`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.domainStatePolicy = .allow }
        let (laptop, phone, bob) = (Device("ada", "laptop"), Device("ada", "phone"), Device("bob"))
        for device in [laptop, phone, bob] { try await bank.enable(device) }
        func challenge(_ name: LoginName?) async throws -> Data {
            try await bank.party.rawChallenge(for: laptop.user, device: name, from: "").challenge
        }
        #expect(
            try await raw(bank, phone, by: laptop.name, challenge: challenge(laptop.name))
                == .assertionRefused(.signature)
        )
        #expect(
            try await raw(bank, phone, by: phone.name, challenge: challenge(laptop.name))
                == .challengeUnknown
        )
        #expect(
            try await raw(bank, laptop, by: nil, challenge: challenge(laptop.name))
                == .challengeUnknown
        )
        #expect(
            try await raw(bank, laptop, by: laptop.name, challenge: challenge(nil))
                == .challengeUnknown
        )
        #expect(try await raw(bank, bob, by: nil, challenge: challenge(nil)) == .challengeUnknown)
        #expect(
            try await raw(bank, Device("ada"), by: nil, challenge: challenge(nil))
                == .assertionRefused(.signature)
        )
        #expect(try await raw(bank, laptop, by: nil, challenge: Data(count: 31)) == .malformed)
        let nobody = Device("nobody")
        let unasked = try await bank.party.rawChallenge(for: nobody.user, device: nil, from: "").challenge
        #expect(try await raw(bank, nobody, by: nil, challenge: unasked) == .unknownKey)
    }

    @Test func `and an assertion do not answer each other's challenge`() async throws {
        let bank = try await Bank { $0.domainStatePolicy = .allow }
        let device = Device()
        try await bank.enable(device)
        let bare = try await bank.party.rawChallenge(for: device.user, device: device.name, from: "")
            .challenge
        let assertion = try device.assertion(answering: bare, at: bank.clock.now)
        #expect(await bank.refusal(assertion) == .challengeUnknown)
        let challenge = try await bank.challenge(device)
        #expect(try await raw(bank, device, by: device.name, challenge: challenge) == .challengeUnknown)
    }

    @Test func `is refused where the policy asks about fingers`() async throws {
        let lax = try await Bank { $0.domainStatePolicy = .allow }
        let device = Device()
        try await lax.enable(device)
        let challenge = try await lax.party.rawChallenge(for: device.user, device: device.name, from: "")
            .challenge
        let bank = try await lax.another { $0.domainStatePolicy = .requireReenable }
        #expect(try await raw(bank, device, by: device.name, challenge: challenge) == .rawRefused)
        #expect(
            await code { () async throws(RelyingPartyError) in
                _ = try await bank.party.rawChallenge(for: device.user, device: device.name, from: "")
            } == .rawRefused
        )
    }
}
