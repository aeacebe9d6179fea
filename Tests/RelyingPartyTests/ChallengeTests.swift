// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import Testing

@testable import RelyingParty

@Suite struct `A challenge is sealed by the server, which keeps none` {
    @Test(arguments: StoreKind.all)
    func `who asks for challenges writes nothing, limits and all`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.limits = .init() }
        let device = Device()
        try await bank.enable(device)
        let before = try await bank.rows()
        for number in 0..<200 {
            _ = try? await bank.party.challenge(
                for: known(LoginName("user \(number)")),
                device: device.name,
                purpose: number.isMultiple(of: 2) ? .login : .enable,
                from: "192.0.2.9"
            )
        }
        #expect(try await bank.rows() == before)
    }

    @Test(arguments: StoreKind.all)
    func `strangers who answer in a user's name write nothing`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.limits = .init() }
        let (device, thief) = (Device(), Device())
        try await bank.enable(device)
        let before = try await bank.rows()
        for keyID in [thief.key.id, device.key.id] {
            let challenge = try await bank.challenge(device)
            let forged = try thief.assertion(answering: challenge, at: bank.clock.now, keyID: keyID)
            #expect(await bank.refusal(forged) != nil)
        }
        #expect(
            await bank.refusal(try device.assertion(answering: Data(count: 32), at: bank.clock.now)) != nil
        )
        #expect(try await bank.rows() == before)
        #expect(try await bank.party.audit(of: device.user).map(\.event) == [.enabled])
    }

    @Test(arguments: StoreKind.all)
    func `a challenge that somebody else asks for takes no place, and no answer uses up another's`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let (device, thief) = (Device(), Device())
        try await bank.enable(device)
        let challenge = try await bank.challenge(device)
        for _ in 0..<50 { _ = try await bank.challenge(device) }
        let forged = try thief.assertion(answering: challenge, at: bank.clock.now, keyID: device.key.id)
        #expect(await bank.refusal(forged) == .assertionRefused(.signature))
        _ = try await bank.signIn(device.assertion(answering: challenge, at: bank.clock.now))
    }

    @Test func `a challenge is for one server, user, device and use, and no bit of it is another`() throws {
        let seal = try #require(ChallengeSeal(key: ChallengeKey.make()))
        let device = Device()
        func terms(
            _ origin: String = "https://bank.example",
            _ user: LoginName = device.user,
            _ name: LoginName? = device.name,
            _ use: ChallengeUse = .login
        ) -> ChallengeSeal.Terms {
            ChallengeSeal.Terms(origin: known(LoginOrigin(origin)), user: user, device: name, use: use)
        }
        let nonce = Nonce.another()
        let challenge = seal.challenge(nonce, for: terms())
        #expect(challenge.count == 32)
        #expect(seal.nonce(of: challenge, for: terms()) == nonce)
        #expect(nonce.expiresAt == 1_800_000_120)
        let others = [
            terms("https://bank.example:8443"), terms("https://bank.example", known(LoginName("bob"))),
            terms("https://bank.example", device.user, known(LoginName("phone"))),
            terms("https://bank.example", device.user, nil),
            terms("https://bank.example", device.user, device.name, .enable),
            terms("https://bank.example", device.user, device.name, .raw),
        ]
        for other in others { #expect(seal.nonce(of: challenge, for: other) == nil) }
        for bit in 0..<256 {
            var bytes = Array(challenge)
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(seal.nonce(of: Data(bytes), for: terms()) == nil, "bit \(bit)")
        }
        for count in 0..<32 { #expect(seal.nonce(of: challenge.prefix(count), for: terms()) == nil) }
        #expect(seal.nonce(of: challenge + [0], for: terms()) == nil)
        let another = try #require(ChallengeSeal(key: ChallengeKey.make()))
        #expect(another.nonce(of: challenge, for: terms()) == nil)
        #expect(ChallengeSeal(key: Data(count: 31)) == nil)
    }

    @Test(arguments: StoreKind.all)
    func `a challenge that is good for longer than any is refused`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        // One of a time when the clock was wrong.
        bank.clock.advance(by: 86_400)
        let challenge = try await bank.challenge(device)
        bank.clock.advance(by: -86_400)
        let answer = try device.assertion(answering: challenge, at: bank.clock.now)
        #expect(await bank.refusal(answer) == .challengeUnknown)
        _ = try await bank.signIn(bank.answer(device))
    }

    @Test func `addresses beyond a number are not remembered`() {
        let tries = AddressTries()
        for number in 0..<70_000 {
            #expect(tries.count(RateBucket(key: "\(number)", count: 1, seconds: 60), at: 0) == nil)
        }
        #expect(tries.addresses <= 65_536)
        #expect(tries.count(RateBucket(key: "69999", count: 1, seconds: 60), at: 1) == 59)
    }
}
