// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@Suite struct `Devices are registered by who has their keys` {
    @Test(arguments: StoreKind.all)
    func `a device is registered only where what was shown for it still holds`(_ kind: StoreKind) async throws
    {
        let home = try StoreHome(kind)
        let (store, another) = (try await home.open(), try await home.open())
        let (sender, next) = (Device(), Device("ada", "phone"))
        func register(_ condition: RegistrationCondition) async throws -> Registration {
            try await store.register(next.registered, provided: condition, atMost: 9, audit: next.entry)
        }
        let (now, before) = (Data([2]), Data([1]))
        #expect(try await register(.document("password", now)) == .conditionFailed)
        _ = try await another.setDocument("password", to: now, ifWas: nil)
        #expect(try await register(.document("password", before)) == .conditionFailed)
        #expect(try await register(.device(sender.name, keyID: sender.key.id)) == .conditionFailed)
        _ = try await another.register(sender.registered, provided: nil, atMost: 9, audit: sender.entry)
        #expect(try await register(.device(sender.name, keyID: next.key.id)) == .conditionFailed)
        #expect(try await store.devices(of: next.user).map(\.device) == [sender.name])
        #expect(try await register(.device(sender.name, keyID: sender.key.id)) == .registered)
        #expect(try await register(.document("password", now)) == .registered)

        // Revoking all at the same time leaves none behind.
        for _ in 0..<20 {
            _ = try await another.register(sender.registered, provided: nil, atMost: 9, audit: sender.entry)
            async let revoked = another.revoke(nil, audit: sender.entry)
            async let registered = register(.device(sender.name, keyID: sender.key.id))
            _ = try await (revoked, registered)
            #expect(try await store.devices(of: next.user).isEmpty)
        }
    }

    @Test(arguments: StoreKind.all)
    func `a key is approved by an operator who has seen it, and the next key is not`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        let (device, next) = (Device(), Device())
        let party = bank.party
        #expect(try await bank.enable(device).approval == nil)
        #expect(try await !party.approve(device.name, of: device.user, keyID: next.key.id))
        #expect(try await party.devices(of: device.user).map(\.approval) == [nil])
        #expect(try await party.approve(device.name, of: device.user, keyID: device.key.id))
        #expect(try await party.devices(of: device.user).map(\.approval) == [.byOperator])
        #expect(try await bank.signIn(bank.answer(device)).device.approval == .byOperator)
        #expect(try await party.audit(of: device.user).map(\.event) == [.signedIn, .approved, .enabled])
        try await bank.enable(next)
        #expect(try await party.devices(of: device.user).map(\.approval) == [nil])
    }

    // Docs/Security.md: L7
    @Test(arguments: StoreKind.all)
    func `one key is not registered for two users, nor for two devices`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let device = Device("ada", "laptop")
        try await bank.enable(device)
        for (user, name) in [("bob", "laptop"), ("ada", "phone"), ("bob", "phone")] {
            let same = Device(user, name, key: device.privateKey)
            #expect(await bank.refusal(same, with: nil) == .keyInUse)
            #expect(try await !bank.party.devices(of: same.user).contains { $0.device == same.name })
            #expect(try await bank.reasons(same.user).contains("key_in_use"))
        }
        _ = try await bank.signIn(bank.answer(device))
        // Once it is revoked, the key is free.
        #expect(try await bank.party.revoke(device.name, of: device.user))
        #expect(await bank.refusal(Device("bob", "laptop", key: device.privateKey), with: nil) == nil)
    }

    @Test(.timeLimit(.minutes(2)), arguments: StoreKind.all)
    func `of many that register one key at once, one does`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let banks = [bank, try await bank.another()]
        let key = Device().privateKey
        let codes = await withTaskGroup(of: RelyingPartyError.Code?.self) { group in
            for number in 0..<20 {
                group.addTask {
                    await banks[number % 2].refusal(Device("user\(number)", "laptop", key: key), with: nil)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .keyInUse } == 19)
    }

    @Test(.timeLimit(.minutes(2)), arguments: StoreKind.all)
    func `a user has no more devices than allowed, also when all come at once`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind) { $0.devicesPerUser = 3 }
        let banks = [bank, try await bank.another()]
        for round in 0..<5 {
            let answers = try await withThrowingTaskGroup(of: Registration.self) { group in
                for number in 0..<24 {
                    let store = banks[number % 2].party.store
                    let device = Device("user \(round)", "device \(number)")
                    group.addTask {
                        try await store.register(
                            device.registered,
                            provided: nil,
                            atMost: 3,
                            audit: device.entry
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == .registered } == 3)
            #expect(answers.count { $0 == .tooManyDevices } == 21)
        }
        for number in 0..<4 {
            let refused = await bank.refusal(Device("ada", "device \(number)"), with: nil)
            #expect(refused == (number < 3 ? nil : .tooManyDevices))
        }
        let devices = try await bank.party.devices(of: #require(LoginName("ada")))
        #expect(devices.count == 3)
        // One that is there may have a new key all the same.
        let again = try #require(devices.first).device.text
        #expect(await bank.refusal(Device("ada", again), with: nil) == nil)
    }

    @Test(arguments: StoreKind.all)
    func `the same device again has the new key, name and fingers, and no last use`(
        _ kind: StoreKind
    ) async throws {
        let bank = try await Bank(kind)
        var device = Device()
        try await bank.enable(device)
        _ = try await bank.signIn(bank.answer(device))
        bank.clock.advance(by: 60)
        device = Device("ada", "laptop")
        device.domainState = Data(repeating: 3, count: 32)
        let second = try await bank.enable(device)
        #expect(second.enabledAt == bank.clock.now)
        #expect(try await bank.party.devices(of: device.user) == [second])
        #expect(second.domainState == device.domainState)
        #expect(second.key == device.key)
        // The same key again is no theft.
        #expect(await bank.refusal(device, with: nil) == nil)
    }

    @Test(arguments: StoreKind.all)
    func `devices are listed, renamed and revoked, each for its user alone`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind)
        let (laptop, phone, foreign) = (
            Device("ada", "laptop"), Device("ada", "phone"), Device("bob", "laptop")
        )
        try await bank.enable(laptop)
        bank.clock.advance(by: 1)
        for device in [phone, foreign] { try await bank.enable(device) }
        let party = bank.party
        #expect(try await party.devices(of: laptop.user).map(\.device) == [laptop.name, phone.name])
        #expect(try await party.rename(phone.name, of: phone.user, to: "Ada's phone"))
        #expect(try await party.devices(of: phone.user).map(\.name) == ["a laptop", "Ada's phone"])
        #expect(try await !party.rename(phone.name, of: foreign.user, to: "mine"))
        #expect(
            await code { () async throws(RelyingPartyError) in
                _ = try await party.rename(phone.name, of: phone.user, to: "a\u{0}b")
            } == .malformed
        )

        #expect(try await party.isActive(device: phone.name, of: phone.user, keyID: phone.key.id))
        #expect(try await !party.isActive(device: phone.name, of: phone.user, keyID: laptop.key.id))
        #expect(try await !party.isActive(device: phone.name, of: foreign.user, keyID: phone.key.id))
        #expect(try await !party.revoke(phone.name, of: foreign.user))
        #expect(try await party.revoke(phone.name, of: phone.user))
        #expect(try await !party.revoke(phone.name, of: phone.user))
        #expect(try await !party.isActive(device: phone.name, of: phone.user, keyID: phone.key.id))
        #expect(await bank.refusal(try await bank.answer(phone)) == .unknownKey)
        _ = try await bank.signIn(bank.answer(laptop))

        try await bank.enable(phone)
        #expect(try await party.revokeAll(of: laptop.user) == 2)
        #expect(try await party.devices(of: laptop.user).isEmpty)
        #expect(try await party.revokeAll(of: laptop.user) == 0)
        _ = try await bank.signIn(bank.answer(foreign))
    }

    // Docs/Security.md: L8
    @Test func `a key without proof of its private half is not registered`() async throws {
        let bank = try await Bank()
        let (device, other) = (Device(), Device())
        func refusal(
            _ key: Data,
            name: String = "a laptop",
            as user: LoginName? = nil,
            keyID: String? = nil
        ) async throws -> RelyingPartyError.Code? {
            let assertion = try device.assertion(
                answering: try await bank.challenge(device, purpose: .enable),
                at: bank.clock.now,
                purpose: .enable,
                keyID: keyID
            )
            return await code { () async throws(RelyingPartyError) in
                _ = try await bank.party.enable(
                    assertion: assertion,
                    publicKey: key,
                    name: name,
                    as: user ?? device.user,
                    from: ""
                )
            }
        }
        #expect(try await refusal(other.key.der) == .assertionRefused(.key))
        #expect(try await refusal(other.key.der, keyID: other.key.id) == .assertionRefused(.signature))
        #expect(try await refusal(device.key.der, as: Device("bob").user) == .assertionRefused(.user))
        for der in [Data(), device.key.der.dropLast(), device.key.der + [0], Data(repeating: 0, count: 91)] {
            #expect(try await refusal(der) == .malformed)
        }
        for name in ["", " a", "a\n", String(repeating: "a", count: 129)] {
            #expect(try await refusal(device.key.der, name: name) == .malformed)
        }
        #expect(try await bank.party.devices(of: device.user).isEmpty)
        #expect(try await refusal(device.key.der) == nil)
    }
}
