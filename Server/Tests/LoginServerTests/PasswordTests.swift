// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import Foundation
import LoginAssertion
import RelyingParty
import Synchronization
import Testing

@testable import LoginServer

extension PasswordHash.Cost {
    /// For tests only: a hundredth of a millisecond or so.
    static let cheap = PasswordHash.Cost(rounds: 16, blockSize: 8, parallelism: 1)
}

struct `passwords` {
    private let anna = LoginName("anna")
    private let home = ClientAddress("192.0.2.1")

    @Test func `only the password itself matches`() throws {
        let hash = try PasswordHash(#require(PreparedPassword("correct horse")), cost: .cheap)
        #expect(hash.matches("correct horse"))
        for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horse\0"] {
            #expect(!hash.matches(wrong), "\(wrong)")
        }
    }

    @Test func `nobody has no password`() {
        let nobody = PasswordHash.nobody(cost: .cheap)
        for password in ["", "\0", "password"] { #expect(!nobody.matches(password)) }
    }

    @Test func `an unknown user costs what a wrong password costs`() async throws {
        let cost = PasswordHash.Cost(rounds: 2_048, blockSize: 8, parallelism: 1)
        let accounts = Accounts(documents: MemoryDocuments(), cost: cost)
        let (anna, otto) = (try #require(anna), try #require(LoginName("otto")))
        try await accounts.add(anna, password: "right horse")
        let known = try await accounts.expected(of: anna).hash
        let unknown = try await accounts.expected(of: otto).hash
        let times = [known, unknown].map { hash in
            // The thread's own time: what else the machine does is not in it.
            (0..<5).map { _ in
                let begin = clock_gettime_nsec(CLOCK_THREAD_CPUTIME_ID)
                _ = hash.matches("wrong")
                return Double(clock_gettime_nsec(CLOCK_THREAD_CPUTIME_ID) - begin)
            }.min() ?? 0
        }
        #expect((0.7...1.4).contains(times[1] / times[0]), "\(times)")
    }

    private func clock_gettime_nsec(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    @Test func `the same password is kept differently each time, at the standard cost`() throws {
        let same = try #require(PreparedPassword("same"))
        let (one, other) = (try PasswordHash(same, cost: .cheap), try PasswordHash(same, cost: .cheap))
        #expect(one.salt != other.salt)
        #expect(one.digest != other.digest)
        #expect(PasswordHash.Cost.standard == .init(rounds: 16_384, blockSize: 8, parallelism: 5))
    }

    @Test func `accounts are added once, changed, listed and removed`() async throws {
        let accounts = Accounts(documents: MemoryDocuments(), cost: .cheap)
        let anna = try #require(anna)
        try await accounts.add(anna, password: "first horse")
        await #expect(throws: ServerError.self) { try await accounts.add(anna, password: "second horse") }
        #expect(try await accounts.expected(of: anna).hash.matches("first horse"))
        let credential = try await accounts.credential(of: anna)
        try await accounts.setPassword("second horse", of: anna)
        #expect(try await accounts.expected(of: anna).hash.matches("second horse"))
        #expect(try await accounts.expected(of: anna).hash.matches("first horse") == false)
        #expect(try await accounts.credential(of: anna) != credential)
        #expect(try await accounts.all() == [anna])
        #expect(try await accounts.remove(anna))
        #expect(try await accounts.all().isEmpty)
        #expect(try await accounts.remove(anna) == false)
        #expect(try await accounts.credential(of: anna) == nil)
        await #expect(throws: ServerError.self) { try await accounts.setPassword("third horse", of: anna) }
    }

    @Test(arguments: [
        ("p\u{E4}ssword", "pa\u{308}ssword"), ("pass\u{A0}word", "pass word"),
        ("pass\u{3000}word", "pass word"),
        ("\u{1112}\u{1161}\u{11AB}12345678", "\u{D55C}12345678"),
    ])
    func `is the same however a keyboard writes it`(one: String, other: String) async throws {
        let accounts = Accounts(documents: MemoryDocuments(), cost: .cheap)
        let anna = try #require(anna)
        try await accounts.add(anna, password: one)
        let hash = try await accounts.expected(of: anna).hash
        #expect(hash.matches(one) && hash.matches(other))
        #expect(!hash.matches(one + "A"))
        #expect(!hash.matches(other + "\n"))
    }

    @Test(arguments: [
        "", "a\0", "seven 7", "\u{1F600}\u{1F600}\u{1F600}", "eight\teight",
        String(repeating: "x", count: 1025),
    ])
    func `what is no password is not taken`(password: String) async throws {
        let accounts = Accounts(documents: MemoryDocuments(), cost: .cheap)
        let anna = try #require(anna)
        await #expect(throws: ServerError.self) { try await accounts.add(anna, password: password) }
        #expect(try await accounts.all().isEmpty)
    }

    @Test func `a name with a colon is no user, since Basic could not carry it`() async throws {
        let accounts = Accounts(documents: MemoryDocuments(), cost: .cheap)
        let name = try #require(LoginName("an:na"))
        await #expect(throws: ServerError.self) { try await accounts.add(name, password: "secret horse") }
    }

    @Test func `the eleventh try from one address waits, at every instance; one from elsewhere does not`()
        async throws
    {
        let server = try await TestServer()
        let anna = try #require(anna)
        let away = ClientAddress("192.0.2.2")
        try await server.service.accounts.add(anna, password: "right horse")
        let one = server.service.passwords
        let other = try await server.another().passwords
        for number in 0..<10 {
            #expect(try await (number % 2 == 0 ? one : other).check("wrong", of: anna, from: home) == nil)
        }
        for gate in [one, other] {
            let refused = await #expect(throws: RelyingPartyError.self) {
                try await gate.check("right horse", of: anna, from: home)
            }
            #expect(refused.map(Problem.init)?.code == .tooManyRequests)
        }
        let credential = try #require(try await server.service.accounts.credential(of: anna))
        #expect(try await one.check("right horse", of: anna, from: away) == credential)
        server.clock.pass(900)
        #expect(try await one.check("right horse", of: anna, from: home) == credential)
    }

    /// Whether a password was compared at all.
    private func isLooked(at user: LoginName, from address: ClientAddress, by gate: PasswordGate) async
        -> Bool
    {
        do {
            return try await gate.check("wrong", of: user, from: address) == nil
        } catch {
            return false
        }
    }

    @Test func `many addresses together get forty tries at one user, one address a hundred at many`()
        async throws
    {
        let server = try await TestServer()
        let anna = try #require(anna)
        let gate = server.service.passwords
        var passed = 0
        for number in 1...60 {
            let address = ClientAddress("192.0.2.\(number)")
            if await isLooked(at: anna, from: address, by: gate) { passed += 1 }
        }
        #expect(passed == 40)
        passed = 0
        for number in 1...120 {
            let user = try #require(LoginName("user \(number)"))
            let home = ClientAddress("203.0.113.1")
            if await isLooked(at: user, from: home, by: gate) { passed += 1 }
        }
        #expect(passed == 100)
    }

    @Test func `good passwords are not counted: an office behind one address signs in all day`() async throws
    {
        let server = try await TestServer()
        let gate = server.service.passwords
        let anna = try #require(anna)
        try await server.service.accounts.add(anna, password: "right horse")
        for _ in 0..<120 { #expect(try await gate.check("right horse", of: anna, from: home) != nil) }
        for _ in 0..<10 { #expect(try await gate.check("wrong", of: anna, from: home) == nil) }
        #expect(await !isLooked(at: anna, from: home, by: gate))
    }

    /// Four addresses, 256 networks of 64 bits in one of 56, and one of 48.
    static let strangers = [
        (1...4).map { "192.0.2.\($0)" }, (0..<256).map { "2001:db8:1:\(String($0, radix: 16))::1" },
        (0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ]

    // Docs/Security.md: L27
    @Test(arguments: strangers)
    func `strangers who spend a user's tries cannot keep out a user who has an enabled device`(
        addresses: [String]
    ) async throws {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "right horse")
        let gate = server.service.passwords
        try await server.run { client in
            let now = server.clock.seconds
            let enabled = try await laptop.enable(
                client,
                at: now,
                authorization: basic("anna", "right horse")
            )
            #expect(enabled.status == 201)
            for address in addresses {
                for _ in 0..<max(1, 48 / addresses.count) {
                    _ = await isLooked(at: laptop.user, from: ClientAddress(address), by: gate)
                }
            }
            #expect(await !isLooked(at: laptop.user, from: home, by: gate), "they have spent it")
            let answer = try await laptop.signIn(client, at: now, password: "right horse")
            #expect(answer.status == 201, "\(answer.text)")
            // The device's own are bounded too.
            for _ in 0..<10 {
                #expect(try await laptop.signIn(client, at: now, password: "no").code == "unauthorized")
            }
            #expect(
                try await laptop.signIn(client, at: now, password: "right horse").code == "too_many_requests"
            )
            #expect(try await laptop.signIn(client, at: now).status == 201)
        }
    }

    /// Tries from 256 networks of 64 bits, each so far from the one before: all the same, in one of 56, in one of 48.
    @Test(arguments: [(0, 100), (1, 200), (256, 400)])
    func `networks of 56 and 48 bits are counted as a whole`(step: Int, most: Int) async throws {
        let server = try await TestServer()
        let gate = server.service.passwords
        var passed = 0
        for number in 0..<500 {
            let user = try #require(LoginName("user \(number)"))
            let address = ClientAddress("2001:db8:7:\(String(number % 256 * step, radix: 16))::1")
            if await isLooked(at: user, from: address, by: gate) { passed += 1 }
        }
        #expect(passed == most)
    }

    @Test func `more passwords than may wait are refused at once`() async throws {
        let workers = PasswordWorkers(threads: 1, waiting: 1)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = workers.run { gate.wait() }
        async let second: Void = workers.run { gate.wait() }
        let deadline = ContinuousClock.now + .seconds(30)
        while workers.busy < 2, ContinuousClock.now < deadline { await Task.yield() }
        await #expect(throws: Problem.tooManyRequests(retryAfter: 1)) { try await workers.run {} }
        gate.signal()
        gate.signal()
        _ = try await (first, second)
        try await workers.run {}
    }
}
