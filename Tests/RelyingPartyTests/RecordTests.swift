// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@Suite struct `What a server writes down` {
    @Test(arguments: StoreKind.all)
    func `is who did what from where, the newest first`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (device, bob) = (Device(), Device("bob"))
        try await bank.enable(device)
        try await bank.enable(bob)
        bank.clock.advance(by: 10)
        _ = try await bank.signIn(bank.answer(device))
        let late = try await device.assertion(answering: bank.challenge(device), at: bank.clock.now - 90)
        _ = await bank.refusal(late)
        let party = bank.party
        _ = try await party.rename(device.name, of: device.user, to: "x", from: "a\nb\u{e9}")
        _ = try await party.revokeAll(of: device.user, from: "198.51.100.7")
        let entries = try await party.audit(of: device.user)
        #expect(entries.map(\.event) == [.revoked, .renamed, .signInRefused, .signedIn, .enabled])
        #expect(entries.map(\.address) == ["198.51.100.7", "a?b?", "192.0.2.1", "192.0.2.1", "192.0.2.1"])
        #expect(entries.map(\.reason) == [nil, nil, "assertion_expired", nil, nil])
        #expect(entries.allSatisfy { $0.user == device.user && $0.device == device.name })
        #expect(entries.map(\.at) == [10, 10, 10, 10, 0].map { $0 + 1_800_000_000 })
        #expect(try await party.audit(of: nil).count == 6)
        #expect(try await party.audit(of: nil, atMost: 2).map(\.event) == [.revoked, .renamed])
        #expect(try await party.audit(of: LoginName("nobody")).isEmpty)
    }

    // Docs/Security.md: L10
    @Test(arguments: StoreKind.all)
    func `is nothing that a stranger says, who would push out what matters`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) {
            $0.audit.perUser = 5
            $0.audit.refusedPasswords = 5
            $0.domainStatePolicy = .allow
        }
        let (device, thief) = (Device(), Device("mallory"))
        try await bank.enable(device)
        _ = try await bank.signIn(bank.answer(device))
        let before = try await bank.party.audit(of: device.user)
        #expect(before.map(\.event) == [.signedIn, .enabled])
        let party = bank.party
        for number in 0..<10 {
            // With keys that nobody has registered: on the user's device, on another one, in another's name, for another
            // server, for another purpose.
            _ = await bank.refusal(try await bank.answer(Device()))
            _ = await bank.refusal(try await bank.answer(Device("ada", "device \(number)")))
            let forms: [(Device, LoginClaims.Purpose, LoginOrigin)] = [
                (thief, .login, Bank.origin), (Device(), .enable, Bank.origin),
                (Device(), .login, known(LoginOrigin("https://other.example"))),
            ]
            for (forger, purpose, origin) in forms {
                let answer = try forger.assertion(
                    answering: try await bank.challenge(device),
                    at: bank.clock.now,
                    purpose: purpose,
                    origin: origin
                )
                #expect(await bank.refusal(answer) != nil)
            }
            let bare = try await party.rawChallenge(for: device.user, device: nil, from: "").challenge
            let forged = await code { () async throws(RelyingPartyError) in
                _ = try await party.signIn(
                    user: device.user,
                    device: nil,
                    challenge: bare,
                    signature: Data(count: 70),
                    from: ""
                )
            }
            #expect(forged == .assertionRefused(.signature))
            // Who may enable devices, but not this user's.
            let foreign = try thief.assertion(
                answering: try await bank.challenge(device, purpose: .enable),
                at: bank.clock.now,
                purpose: .enable
            )
            let refused = await code { () async throws(RelyingPartyError) in
                _ = try await party.enable(
                    assertion: foreign,
                    publicKey: thief.key.der,
                    name: "mine",
                    as: thief.user,
                    from: ""
                )
            }
            #expect(refused == .challengeUnknown)
        }
        try await party.purge()
        #expect(try await party.audit(of: nil) == before)
    }

    @Test(arguments: StoreKind.all)
    func `is that a sign-in with a wrong password was refused, and how a good one recognized its user`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        let party = bank.party
        let refused = try await party.prove(assertion: bank.answer(device), from: "192.0.2.1")
        #expect(try await party.devices(of: device.user).map(\.lastUsedAt) == [nil])
        try await party.refuse(refused, because: "password_refused", from: "192.0.2.1")
        let twice = await code { () async throws(RelyingPartyError) in
            _ = try await party.admit(refused, from: "192.0.2.1")
        }
        #expect(twice == .challengeUnknown)
        let answer = try await bank.answer(device)
        let proven = try await party.spend(try await party.prove(assertion: answer, from: "192.0.2.1"))
        // It is used up before the password is compared: one assertion is good for one try.
        #expect(await bank.refusal(answer) == .challengeUnknown)
        let again = await code { () async throws(RelyingPartyError) in
            _ = try await party.spend(try await party.prove(assertion: answer, from: "192.0.2.1"))
        }
        #expect(again == .challengeUnknown)
        _ = try await party.admit(proven, as: ["hwk", "pwd"], from: "192.0.2.1")
        let entries = try await party.audit(of: device.user)
        #expect(entries.map(\.event) == [.signedIn, .signInRefused, .enabled])
        #expect(entries.map(\.reason) == ["hwk pwd", "password_refused", nil])
        #expect(try await party.devices(of: device.user).map(\.lastUsedAt) == [bank.clock.now])
        _ = try await party.revokeAll(of: device.user)
        let late = await code { () async throws(RelyingPartyError) in
            _ = try await party.admit(proven, from: "")
        }
        #expect(late == .unknownKey)
    }

    // Docs/Security.md: L10
    @Test(arguments: StoreKind.all)
    func `of refused passwords, which strangers can try, pushes out nothing else`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind) { $0.audit.refusedPasswords = 5 }
        let device = Device()
        try await bank.enable(device)
        for number in 0..<20 {
            try await bank.party.note(
                .passwordRefused,
                of: LoginName("guess \(number)"),
                from: "198.51.100.1"
            )
        }
        try await bank.party.note(.keyRotated, of: nil, from: "")
        try await bank.party.purge()
        let events = try await bank.party.audit(of: nil).map(\.event)
        #expect(events == [.keyRotated] + Array(repeating: .passwordRefused, count: 5) + [.enabled])
        #expect(try await bank.party.audit(of: nil).map(\.user).first == .some(nil))
    }

    @Test(arguments: StoreKind.all)
    func `is kept for its time, however much one user does`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) {
            $0.audit.perUser = 5
            $0.audit.seconds = 86_400
        }
        let (device, busy) = (Device(), Device("bob"))
        for device in [device, busy] { try await bank.enable(device) }
        for _ in 0..<20 {
            // Each sign-in may be the one that removes what is too much.
            bank.clock.advance(by: 60)
            _ = try await bank.signIn(bank.answer(busy))
        }
        #expect(try await bank.party.audit(of: busy.user).count <= 6)
        #expect(try await bank.party.audit(of: device.user).map(\.event) == [.enabled])
        bank.clock.advance(by: 86_399 - 1_200)
        try await bank.party.purge()
        #expect(try await bank.party.audit(of: device.user).map(\.event) == [.enabled])
        bank.clock.advance(by: 2)
        try await bank.party.purge()
        #expect(try await bank.party.audit(of: device.user).isEmpty)
        #expect(try await bank.party.audit(of: busy.user).count >= 5)
    }

    @Test(arguments: StoreKind.all)
    func `holds no challenge, no assertion and no signature, nor does what it tells`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        try await bank.enable(device)
        var secrets: [String] = []
        for forger in [device, Device(), Device("ada", "phone")] {
            let challenge = try await bank.challenge(forger)
            let answer = try forger.assertion(answering: challenge, at: bank.clock.now)
            _ = await bank.refusal(answer)
            _ = await bank.refusal(answer)
            secrets += [Base64URL.encode(challenge), challenge.base64EncodedString(), "\(Array(challenge))"]
            secrets += answer.split(separator: ".").map(String.init)
        }
        let told = "\(bank.heard)" + "\(try await bank.party.audit(of: nil))"
        #expect(told.contains("unknown_key"))
        for secret in secrets { #expect(!told.contains(secret)) }
    }

    @Test(arguments: StoreKind.all)
    func `is told once for each thing that happens`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device()
        let enabled = try await bank.enable(device)
        let answer = try await bank.answer(device)
        let signIn = try await bank.signIn(answer)
        _ = await bank.refusal(answer)
        _ = await bank.refusal("x")
        _ = try await bank.party.revoke(device.name, of: device.user)
        #expect(
            bank.heard == [
                .challengeIssued(user: device.user, device: device.name), .enabled(enabled),
                .challengeIssued(user: device.user, device: device.name), .signedIn(signIn.device),
                .refused(RelyingPartyError(.challengeUnknown), user: device.user, device: device.name),
                .refused(RelyingPartyError(.malformed), user: nil, device: nil),
                .revoked(user: device.user, device: device.name),
            ]
        )
    }

    @Test(arguments: StoreKind.all)
    func `a document is changed by who has seen its last form`(_ kind: StoreKind) async throws {
        let home = try StoreHome(kind)
        let (store, another) = (try await home.open(), try await home.open())
        let (one, two) = (Data([1]), Data([0, 255]))
        #expect(try await store.document("keys") == nil)
        #expect(try await !store.setDocument("keys", to: one, ifWas: two))
        #expect(try await store.setDocument("keys", to: nil, ifWas: nil))
        #expect(try await store.setDocument("keys", to: one, ifWas: nil))
        #expect(try await !another.setDocument("keys", to: two, ifWas: nil))
        #expect(try await another.document("keys") == one)
        #expect(try await another.setDocument("keys", to: two, ifWas: one))
        #expect(try await !store.setDocument("keys", to: nil, ifWas: one))
        #expect(try await !store.setDocument("keys", to: nil, ifWas: nil))
        #expect(try await store.document("Keys") == nil)
        #expect(try await store.setDocument("keys", to: nil, ifWas: two))
        #expect(try await another.document("keys") == nil)

        // Of many that begin with the same form, one wins each time.
        for round in 0..<5 {
            let old = round == 0 ? nil : try await store.document("count")
            let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    let store = number.isMultiple(of: 2) ? store : another
                    group.addTask {
                        try await store.setDocument(
                            "count",
                            to: Data([UInt8(round), UInt8(number)]),
                            ifWas: old
                        )
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func `does not grow without end by a user who never uses a device`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind) { $0.audit.perUser = 5 }
        for _ in 0..<20 {
            bank.clock.advance(by: 60)
            try await bank.party.note(.passwordAccepted, of: Device().user, from: "192.0.2.1")
        }
        #expect(try await bank.party.audit(of: nil).count <= 6)
    }

    @Test(arguments: StoreKind.all)
    func `documents are found by the beginning of their names, a part at a time`(
        _ kind: StoreKind
    ) async throws {
        let home = try StoreHome(kind)
        let store = try await home.open()
        let names = ["a/", "a/%", "a/b", "a/b/c", "a/\u{e9}", "a/\u{1F600}"]
        for name in names.shuffled() + ["a", "a.", "a0", "A/b", "b/a", "\u{e9}/a"] {
            #expect(try await store.setDocument(name, to: Data(), ifWas: nil))
        }
        #expect(try await store.documentNames(withPrefix: "a/", after: "", atMost: 99) == names)
        var found: [String] = []
        while true {
            let part = try await store.documentNames(withPrefix: "a/", after: found.last ?? "", atMost: 4)
            guard !part.isEmpty else { break }
            found += part
        }
        #expect(found == names)
        #expect(try await store.documentNames(withPrefix: "z", after: "", atMost: 9).isEmpty)
        _ = consume home
    }

    @Test(arguments: StoreKind.all)
    func `names are compared byte by byte`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let devices = [Device("\u{e9}"), Device("\u{c9}"), Device("e"), Device("E"), Device("e\u{329}")]
        for device in devices { try await bank.enable(device) }
        for device in devices {
            #expect(try await bank.party.devices(of: device.user).map(\.key) == [device.key])
            _ = try await bank.signIn(bank.answer(device))
        }
    }
}
