// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@Suite struct `Tries are limited` {
    private func challenge(
        _ bank: Bank,
        _ user: String,
        _ device: String,
        from address: String
    ) async -> RelyingPartyError.Code? {
        await code { () async throws(RelyingPartyError) in
            _ = try await bank.party.challenge(
                for: known(LoginName(user)),
                device: known(LoginName(device)),
                purpose: .login,
                from: address
            )
        }
    }

    @Test(arguments: StoreKind.all)
    func `an address has its number within a window, at each instance`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.limits.perAddress = .init(count: 4, seconds: 60) }
        let another = try await bank.another()
        for number in 0..<4 { #expect(await challenge(bank, "u\(number)", "d", from: "192.0.2.9") == nil) }
        bank.clock.advance(by: 20)
        #expect(await challenge(bank, "u", "d", from: "192.0.2.9") == .tooManyTries(retryAfter: 40))
        #expect(await challenge(bank, "u", "d", from: "::ffff:192.0.2.9") == .tooManyTries(retryAfter: 40))
        #expect(await challenge(another, "u", "d", from: "192.0.2.9") == nil)
        #expect(await challenge(bank, "u", "d", from: "192.0.2.10") == nil)
        // Answers count as well.
        let answer = try Device().assertion(answering: Data(count: 32), at: 0)
        #expect(
            await code { () async throws(RelyingPartyError) in
                _ = try await bank.party.signIn(
                    assertion: answer,
                    from: "192.0.2.9"
                )
            } == .tooManyTries(retryAfter: 40)
        )
        bank.clock.advance(by: 40)
        #expect(await challenge(bank, "u", "d", from: "192.0.2.9") == nil)
        // A clock that goes back a day does not shut anybody out for one.
        for _ in 0..<4 { _ = await challenge(bank, "u", "d", from: "192.0.2.9") }
        bank.clock.advance(by: -86_400)
        #expect(await challenge(bank, "u", "d", from: "192.0.2.9") == nil)
    }

    @Test func `IPv6 counts by its first 64 bits, other texts by all of them`() async throws {
        let bank = try await Bank { $0.limits.perAddress = .init(count: 1, seconds: 60) }
        #expect(await challenge(bank, "u", "d", from: "2001:db8:0:1::1") == nil)
        #expect(
            await challenge(bank, "u", "d", from: "2001:DB8::1:ffff:0:0:2%eth0")
                == .tooManyTries(retryAfter: 60)
        )
        #expect(await challenge(bank, "u", "d", from: "2001:db8:0:2::1") == nil)
        let long = String(repeating: "a\u{0}", count: 9_999)
        #expect(await challenge(bank, "u", "d", from: long + "1") == nil)
        #expect(await challenge(bank, "u", "d", from: long + "2") == nil)
        #expect(await challenge(bank, "u", "d", from: long + "2") == .tooManyTries(retryAfter: 60))
    }

    /// What somebody is told who asks for challenges in a device's name, and answers them with keys of his own.
    private func told(_ bank: Bank, _ user: String, _ device: String) async throws -> [String] {
        var told: [String] = []
        for _ in 0..<8 {
            let forger = Device(user, device)
            do {
                let issued = try await bank.party.challenge(
                    for: forger.user,
                    device: forger.name,
                    purpose: .login,
                    from: "192.0.2.1"
                )
                told.append("challenge")
                let answer = try forger.assertion(answering: issued.challenge, at: bank.clock.now)
                _ = try await bank.party.signIn(assertion: answer, from: "192.0.2.1")
            } catch {
                told.append("\(error)")
            }
        }
        return told
    }

    // Docs/Security.md: L9
    @Test(arguments: StoreKind.all)
    func `nobody learns from them which users and devices there are`(_ kind: StoreKind) async throws {
        func bank() async throws -> Bank {
            let bank = try await Bank(kind) { $0.limits.perAddress = .init(count: 9, seconds: 60) }
            try await bank.enable(Device("ada", "laptop"))
            bank.clock.advance(by: 60)
            return bank
        }
        let known = try await told(bank(), "ada", "laptop")
        #expect(try await told(bank(), "ada", "tablet") == known)
        #expect(try await told(bank(), "nobody", "laptop") == known)
        #expect(known.contains("too_many_tries"))
        #expect(known.contains("unknown_key"))
    }

    @Test(arguments: StoreKind.all)
    func `who names a user from many addresses locks no device out, nor hides that one was revoked`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device("ada", "7c0e7f6e")
        try await bank.enable(device)
        let revoked = Device("ada", "revoked")
        for number in 0..<20 {
            let refused = await bank.refusal(try await bank.answer(Device("ada", "guess \(number)")))
            #expect(refused == .unknownKey)
        }
        #expect(await bank.refusal(try await bank.answer(revoked)) == .unknownKey)
        // Nor in the device's own name.
        for number in 0..<200 {
            #expect(await challenge(bank, "ada", "7c0e7f6e", from: "192.0.2.\(number)") == nil)
        }
        _ = try await bank.signIn(bank.answer(device))
    }

    @Test(arguments: StoreKind.all)
    func `what is over is removed on the way, so that the database does not grow`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind) { $0.audit.perUser = 5 }
        let device = Device()
        for number in 0..<8 {
            try await bank.enable(device)
            _ = try await bank.signIn(bank.answer(device))
            try await bank.party.countTries([RateBucket(key: "\(number)", count: 9, seconds: 60)])
        }
        let before = try await bank.rows()
        #expect(before["used_nonces"] == 16)
        #expect(before["tries"] == 8)
        #expect(before["audit"] == 16)
        bank.clock.advance(by: 721)
        _ = try await bank.signIn(bank.answer(device))
        let after = try await bank.rows()
        #expect(after["used_nonces"] == 1)
        #expect(after["tries"] == 0)
        #expect(after["audit"] == 5)
        // A part at a time leaves the rest for the next one.
        for _ in 0..<2 { _ = try await bank.signIn(bank.answer(device)) }
        bank.clock.advance(by: 721)
        #expect(
            try await bank.party.store.purge(
                keeping: bank.party.configuration.audit,
                of: nil,
                atMost: 2,
                at: bank.clock.now
            )
        )
        #expect(try await bank.rows()["used_nonces"] == 1)
        try await bank.party.purge()
        #expect(try await bank.rows()["used_nonces"] == 0)
    }

    @Test(arguments: StoreKind.all)
    func `a server counts what else can be guessed, each by itself`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let another = try await bank.another()
        let limit = RelyingParty.Configuration.Limit(count: 2, seconds: 60)
        let user = Device().user
        func tries(_ what: String, _ user: LoginName) async -> [RelyingPartyError.Code?] {
            var codes: [RelyingPartyError.Code?] = []
            for bank in [bank, another, bank] {
                codes.append(
                    await code { () async throws(RelyingPartyError) in
                        try await bank.party.countTry(what, by: user, limit: limit)
                    }
                )
            }
            return codes
        }
        let twice: [RelyingPartyError.Code?] = [nil, nil, .tooManyTries(retryAfter: 60)]
        #expect(await tries("password", user) == twice)
        #expect(await tries("passcode", user) == twice)
        #expect(await tries("password", Device("bob").user) == twice)
        for number in 0..<4 {
            let refused = await code { () async throws(RelyingPartyError) in
                try await bank.party.countTry("password", from: "2001:db8::\(number)", limit: limit)
                try await bank.party.countTry("password", from: "", limit: limit)
            }
            #expect(refused == (number < 2 ? nil : .tooManyTries(retryAfter: 60)))
        }
        bank.clock.advance(by: 60)
        #expect(await tries("password", user) == twice)
    }

    @Test(arguments: StoreKind.all)
    func `a try that was good is taken back, within its window`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let bucket = RateBucket(key: "one", count: 2, seconds: 60)
        func refusal() async -> RelyingPartyError.Code? {
            await code { () async throws(RelyingPartyError) in try await bank.party.countTries([bucket]) }
        }
        for _ in 0..<5 {
            #expect(await refusal() == nil)
            try await bank.party.refundTries([bucket])
        }
        // Not below none, and none that was never counted.
        for _ in 0..<3 {
            try await bank.party.refundTries([bucket, RateBucket(key: "two", count: 1, seconds: 60)])
        }
        #expect(await refusal() == nil)
        #expect(await refusal() == nil)
        #expect(await refusal() == .tooManyTries(retryAfter: 60))
    }

    @Test(arguments: StoreKind.all)
    func `a limit of none allows nothing, and one beyond all numbers everything`(
        _ kind: StoreKind
    ) async throws {
        let none = try await Bank(kind) { $0.limits.perAddress = .init(count: -1, seconds: -1) }
        #expect(await challenge(none, "u", "d", from: "192.0.2.9") == .tooManyTries(retryAfter: 1))
        let all = try await Bank(kind) { $0.limits.perAddress = .init(count: .max, seconds: .max) }
        #expect(await challenge(all, "u", "d", from: "192.0.2.9") == nil)
        #expect(await challenge(all, "u", "d", from: "192.0.2.9") == nil)
    }
}
