// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import RelyingParty
import Testing

// Docs/Security.md: A11b
@Suite struct `What is not the device's answer to its own challenge is refused` {
    @Test(arguments: StoreKind.all)
    func `the challenge of another user`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (ada, bob) = (Device("ada"), Device("bob"))
        for device in [ada, bob] { try await bank.enable(device) }
        let stolen = try await bank.challenge(bob)
        #expect(
            await bank.refusal(try ada.assertion(answering: stolen, at: bank.clock.now))
                == .challengeUnknown
        )
    }

    // Docs/Security.md: L2
    @Test(arguments: StoreKind.all)
    func `the challenge of another device`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (laptop, phone) = (Device("ada", "laptop"), Device("ada", "phone"))
        for device in [laptop, phone] { try await bank.enable(device) }
        let other = try await bank.challenge(phone)
        #expect(
            await bank.refusal(try laptop.assertion(answering: other, at: bank.clock.now))
                == .challengeUnknown
        )
    }

    // Docs/Security.md: L2
    @Test(arguments: StoreKind.all)
    func `the name of another device, with the own key`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (laptop, phone) = (Device("ada", "laptop"), Device("ada", "phone"))
        for device in [laptop, phone] { try await bank.enable(device) }
        let swapped = Device("ada", "phone", key: laptop.privateKey)
        #expect(await bank.refusal(try await bank.answer(swapped)) == .unknownKey)
        let named = try swapped.assertion(
            answering: try await bank.challenge(phone),
            at: bank.clock.now,
            keyID: phone.key.id
        )
        #expect(await bank.refusal(named) == .assertionRefused(.signature))
    }

    // Docs/Security.md: A11b
    @Test func `what is for another server, or answers another server's challenge`() async throws {
        let (bank, shop) = (try await Bank(), try await Bank())
        let device = Device()
        try await bank.enable(device)
        try await shop.enable(device)
        for origin in ["https://bank.example:8443", "https://bank.example.net", "http://localhost"] {
            let assertion = try device.assertion(
                answering: try await bank.challenge(device),
                at: bank.clock.now,
                origin: #require(LoginOrigin(origin))
            )
            #expect(await bank.refusal(assertion) == .assertionRefused(.origin))
        }
        #expect(await bank.refusal(try await shop.answer(device)) == .challengeUnknown)
    }

    @Test(arguments: StoreKind.all)
    func `what is meant for another is no reason for a device to delete its key`(_ kind: StoreKind)
        async throws
    {
        let bank = try await Bank(kind)
        // No key of theirs is known, nor is looked for.
        let (device, bob, phone) = (Device(), Device("bob"), Device("ada", "phone"))
        let origin = known(LoginOrigin("https://bank.example:8443"))
        for (signer, purpose, origin, fault) in [
            (device, .login, origin, .assertionRefused(.origin)),
            (device, .enable, Bank.origin, .assertionRefused(.purpose)),
            (bob, .login, Bank.origin, .challengeUnknown), (phone, .login, Bank.origin, .challengeUnknown),
        ] as [(Device, LoginClaims.Purpose, LoginOrigin, RelyingPartyError.Code)] {
            let assertion = try signer.assertion(
                answering: try await bank.challenge(device),
                at: bank.clock.now,
                purpose: purpose,
                origin: origin
            )
            #expect(await bank.refusal(assertion) == fault)
        }
        #expect(await bank.refusal(try await bank.answer(device)) == .unknownKey)
    }

    // Docs/Security.md: L3
    @Test func `an assertion that is too old, or from the future`() async throws {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        func refusal(_ offset: Int) async throws -> RelyingPartyError.Code? {
            let challenge = try await bank.challenge(device)
            return await bank.refusal(
                try device.assertion(answering: challenge, at: bank.clock.now + offset)
            )
        }
        #expect(try await refusal(-90) == .assertionRefused(.expired))
        #expect(try await refusal(-89) == nil)
        #expect(try await refusal(30) == nil)
        #expect(try await refusal(31) == .assertionRefused(.notYetValid))
    }

    // Docs/Security.md: L4
    @Test func `an assertion with any character altered`() async throws {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let length = try await bank.answer(device).utf8.count
        for index in 0..<length {
            var bytes = Array(try await bank.answer(device).utf8)
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let code = await bank.refusal(String(decoding: bytes, as: UTF8.self))
            #expect(code != nil, "character \(index)")
        }
        #expect(try await bank.party.devices(of: device.user).first?.lastUsedAt == nil)
    }

    @Test func `an assertion that is cut, or goes on`() async throws {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        for count in 0..<answer.count { #expect(await bank.refusal(String(answer.prefix(count))) != nil) }
        for tail in ["A", "=", "==", ".", " ", "\n", ".AAAA"] {
            #expect(await bank.refusal(answer + tail) == .malformed)
            #expect(await bank.refusal(tail + answer) == .malformed)
        }
        // None of them was an answer: the challenge is still there.
        _ = try await bank.signIn(answer)
    }

    // Docs/Security.md: L5
    @Test(arguments: [
        #"{"alg":"none","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"None","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"HS256","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"RS256","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES384","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256K","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"JWT"}"#,
        #"{"alg":"ES256","kid":"OTHER","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","jwk":{"crv":"P-256","kty":"EC","x":"X","y":"Y"},"kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","jku":"https://evil.example/jwks.json","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","kid":"KID","typ":"whorl-login+jwt","x5c":["MIIB"]}"#,
        #"{"alg":"ES256","kid":"KID","typ":"whorl-login+jwt","x5u":"https://evil.example/"}"#,
        #"{"alg":"ES256","b64":false,"crit":["b64"],"kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256","alg":"none","kid":"KID","typ":"whorl-login+jwt"}"#,
        #"{"alg":"ES256", "kid":"KID","typ":"whorl-login+jwt"}"#,
        #"[]"#, #"null"#, #""#,
    ])
    func `a header that names another algorithm or brings a key along`(_ header: String) async throws {
        let bank = try await Bank()
        let (device, thief) = (Device(), Device())
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        var parts = try Parts(answer)
        let point = thief.privateKey.publicKey.rawRepresentation
        parts.header =
            header.replacingOccurrences(of: "KID", with: device.key.id)
            .replacingOccurrences(of: "OTHER", with: thief.key.id)
            .replacingOccurrences(of: "\"X\"", with: "\"\(Base64URL.encode(point.prefix(32)))\"")
            .replacingOccurrences(of: "\"Y\"", with: "\"\(Base64URL.encode(point.suffix(32)))\"")
        // Signed by the thief, by the device itself, with the public key as a secret, and not at all.
        let input =
            Base64URL.encode(Data(parts.header.utf8)) + "." + Base64URL.encode(Data(parts.payload.utf8))
        let mac = HMAC<SHA256>.authenticationCode(
            for: Data(input.utf8),
            using: SymmetricKey(data: device.key.der)
        )
        let forms = [
            try parts.signed(by: thief), try parts.signed(by: device), input + ".",
            input + "." + Base64URL.encode(Data(mac)),
            input + "." + Base64URL.encode(Data(mac) + Data(mac)),
        ]
        for form in forms { #expect(await bank.refusal(form) == .malformed) }
        _ = try await bank.signIn(answer)
    }

    @Test func `an assertion for enabling does not sign in, nor the other way round`() async throws {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let enabling = try device.assertion(
            answering: try await bank.challenge(device, purpose: .enable),
            at: bank.clock.now,
            purpose: .enable
        )
        #expect(await bank.refusal(enabling) == .assertionRefused(.purpose))
        // The challenge was for the one purpose, the assertion says the other.
        let crossed = try device.assertion(
            answering: try await bank.challenge(device, purpose: .enable),
            at: bank.clock.now
        )
        #expect(await bank.refusal(crossed) == .challengeUnknown)
        let login = try await bank.answer(device)
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await bank.party.enable(
                assertion: login,
                publicKey: device.key.der,
                name: "a laptop",
                as: device.user,
                from: ""
            )
        }
        #expect(refused == .assertionRefused(.purpose))
    }

    @Test(arguments: StoreKind.all)
    func `a key that was revoked, and one that was replaced`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (old, new) = (Device(), Device())
        try await bank.enable(old)
        try await bank.enable(new)
        #expect(await bank.refusal(try await bank.answer(old)) == .unknownKey)
        _ = try await bank.signIn(bank.answer(new))
        let open = try await bank.answer(new)
        #expect(try await bank.party.revoke(new.name, of: new.user))
        #expect(await bank.refusal(open) == .unknownKey)
        #expect(await bank.refusal(try await bank.answer(new)) == .unknownKey)
    }

    @Test(arguments: StoreKind.all)
    func `a user who is not known, who is asked as one who is`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (known, nobody) = (Device("ada"), Device("nobody"))
        try await bank.enable(known)
        let challenge = try await bank.party.challenge(
            for: nobody.user,
            device: nobody.name,
            purpose: .login,
            from: ""
        )
        #expect(challenge.challenge.count == 32)
        #expect(challenge.expiresAt == bank.clock.now + 120)
        let answer = try nobody.assertion(answering: challenge.challenge, at: bank.clock.now)
        #expect(await bank.refusal(answer) == .unknownKey)
        // A known user's device, asked with a foreign key, gives the same.
        #expect(await bank.refusal(try await bank.answer(Device("ada"))) == .unknownKey)
    }
}
