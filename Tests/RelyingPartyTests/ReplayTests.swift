// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@Suite struct `A challenge is answered once` {
    @Test(arguments: StoreKind.all)
    func `a device that is enabled signs in`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        let enabled = try await bank.enable(device)
        bank.clock.advance(by: 5)
        let signIn = try await bank.signIn(bank.answer(device))
        #expect(signIn.device.key == device.key)
        #expect(signIn.device.lastUsedAt == bank.clock.now)
        #expect(signIn.claims?.user == device.user)
        let known = try await bank.party.devices(of: device.user)
        #expect(known == [signIn.device])
        #expect(known.first?.enabledAt == enabled.enabledAt)
    }

    // Docs/Security.md: L1
    @Test(arguments: StoreKind.all)
    func `the same answer again is refused`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        _ = try await bank.signIn(answer)
        #expect(await bank.refusal(answer) == .challengeUnknown)
    }

    // Docs/Security.md: A11a
    @Test(arguments: StoreKind.all)
    func `the same answer is refused after the server was started again, and by another instance`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        _ = try await bank.signIn(answer)
        let another = try await bank.another()
        #expect(await another.refusal(answer) == .challengeUnknown)
    }

    @Test(arguments: StoreKind.all)
    func `a challenge is answered at another instance, and after a start`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        _ = try await bank.another().signIn(answer)
        #expect(await bank.refusal(answer) == .challengeUnknown)
    }

    // Docs/Security.md: A11a
    @Test(.timeLimit(.minutes(3)), arguments: StoreKind.all)
    func `of 1,000 that use one challenge at once at two instances, one signs in`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let another = try await bank.another()
        let device = Device()
        try await bank.enable(device)
        let challenge = try await bank.challenge(device)
        let now = bank.clock.now
        let codes = try await withThrowingTaskGroup(of: RelyingPartyError.Code?.self) { group in
            for number in 0..<1_000 {
                // Each one says something else, so that nothing but the challenge tells that they are one.
                let answer = try device.assertion(answering: challenge, at: now)
                let instance = number.isMultiple(of: 2) ? bank : another
                group.addTask { await instance.refusal(answer) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .challengeUnknown } == 999)
    }

    @Test(arguments: StoreKind.all)
    func `an answer of the device that is refused has used the challenge up, and is written down once`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let challenge = try await bank.challenge(device)
        let early = try device.assertion(answering: challenge, at: bank.clock.now + 31)
        #expect(await bank.refusal(early) == .assertionRefused(.notYetValid))
        for _ in 0..<3 { #expect(await bank.refusal(early) == .challengeUnknown) }
        let good = try device.assertion(answering: challenge, at: bank.clock.now)
        #expect(await bank.refusal(good) == .challengeUnknown)
        #expect(try await bank.reasons(device.user) == ["assertion_notYetValid"])
        #expect(try await bank.party.devices(of: device.user).first?.lastUsedAt == nil)
    }

    @Test(.timeLimit(.minutes(3)), arguments: StoreKind.all)
    func `of 1,000 that enable one device with one challenge at once, one does`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let another = try await bank.another()
        let device = Device()
        let challenge = try await bank.challenge(device, purpose: .enable)
        let assertion = try device.assertion(answering: challenge, at: bank.clock.now, purpose: .enable)
        let codes = await withTaskGroup(of: RelyingPartyError.Code?.self) { group in
            for number in 0..<1_000 {
                let party = number.isMultiple(of: 2) ? bank.party : another.party
                group.addTask {
                    await code { () async throws(RelyingPartyError) in
                        _ = try await party.enable(
                            assertion: assertion,
                            publicKey: device.key.der,
                            name: "a laptop",
                            as: device.user,
                            from: ""
                        )
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .challengeUnknown } == 999)
        #expect(try await bank.party.audit(of: device.user, atMost: 2_000).map(\.event) == [.enabled])
    }

    @Test(arguments: StoreKind.all)
    func `a challenge that was answered stays so after its nonce could be removed, and while clocks differ`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let challenge = try await bank.challenge(device)
        _ = try await bank.signIn(device.assertion(answering: challenge, at: bank.clock.now))
        // The clock of one instance is ahead, and removes what is over; that of another is not.
        bank.clock.advance(by: 719)
        try await bank.party.purge()
        bank.clock.advance(by: -719)
        let again = try device.assertion(answering: challenge, at: bank.clock.now)
        #expect(await bank.refusal(again) == .challengeUnknown)
        bank.clock.advance(by: 721)
        try await bank.party.purge()
        #expect(try await bank.rows()["used_nonces"] == 0)
        #expect(
            await bank.refusal(try device.assertion(answering: challenge, at: bank.clock.now))
                == .challengeUnknown
        )
    }

    @Test(arguments: StoreKind.all)
    func `a challenge is worth nothing once its time is over`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let challenge = try await bank.challenge(device)
        let second = Device("ada", "phone")
        try await bank.enable(second)
        let inTime = try await bank.challenge(second)
        bank.clock.advance(by: 119)
        _ = try await bank.signIn(second.assertion(answering: inTime, at: bank.clock.now))
        bank.clock.advance(by: 1)
        let late = try device.assertion(answering: challenge, at: bank.clock.now)
        #expect(await bank.refusal(late) == .challengeUnknown)
    }
}
