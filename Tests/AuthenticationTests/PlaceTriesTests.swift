// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import Testing
import WhorlEngine
import WhorlFingerprint
import WhorlService

/// A login screen at which anyone can name anyone: people with a finger each, and the count of root's engine.
private struct Screen {
    let root: Fixture
    var people: [Fixture] = []

    init(_ steps: [ScriptedReader.Step]...) async throws {
        root = try Fixture([], profile: "root")
        for steps in steps { people.append(try await Fixture.enrolled(steps)) }
    }

    var place: LoginPlaceTries { LoginPlaceTries(of: root.engine()) }

    /// Logs in once as a person, at most three touches.
    @discardableResult
    func logIn(_ person: Int) async -> Result<Evaluation, ServiceError> {
        var request = Fixture.request()
        request.place = place
        let result = await people[person].evaluate(request)
        if case .success = result { try? await place.clear() }
        return result
    }

    func rests() async -> Bool {
        do throws(ServiceError) {
            try await place.check(.pretended)
            try await place.check(.real)
            return false
        } catch {
            return error.code == .placeRests
        }
    }

    func failures(_ person: Int) async throws -> Int { try await people[person].record().failures }

    func wait(_ duration: Duration) {
        root.clock.advance(duration)
        for person in people { person.clock.advance(duration) }
    }
}

private func misses(_ count: Int) -> [ScriptedReader.Step] { Array(repeating: .noMatch, count: count) }

// Docs/Security.md: K2
@Suite struct `A login screen` {
    @Test func `rests after five misses in a row, whoever was named, before anyone is locked out`()
        async throws
    {
        let screen = try await Screen(misses(3), misses(2), [.match(0)])
        #expect(await screen.logIn(0).code == .authenticationFailed)
        let fifth = await screen.logIn(1)
        #expect(fifth.code == .placeRests)
        // The miss with which it begins to rest is the place's alone.
        #expect(try await screen.failures(0) == 3)
        #expect(try await screen.failures(1) == 1)
        let resting = await screen.logIn(2)
        #expect(resting.code == .placeRests)
        #expect(screen.people[2].reader.counts.scans == 0)
        screen.wait(.seconds(60))
        #expect(await screen.logIn(2).success != nil)
        #expect(await !screen.rests())
    }

    @Test func `rests before the fingers of the only person who is named are locked`() async throws {
        let screen = try await Screen(misses(6))
        await screen.logIn(0)
        #expect(await screen.logIn(0).code == .placeRests)
        #expect(try await screen.failures(0) == 4)
        screen.wait(.seconds(60))
        let sixth = await screen.logIn(0)
        #expect(sixth.code == .biometryLockout)
        #expect(try await screen.failures(0) == 5)
    }

    // Docs/Security.md: K2
    @Test func `rests twice as long after each further miss, an hour at most, over restarts`() async throws {
        let screen = try await Screen([])
        for _ in 0..<4 {
            #expect(try await screen.place.charge(.real) != .rests(for: .seconds(60), isFirst: true))
        }
        for (place, minutes) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            #expect(
                try await screen.place.charge(.real)
                    == .rests(for: .seconds(minutes * 60), isFirst: place == 0)
            )
            screen.root.clock.reboot(after: .seconds(1))
            #expect(await screen.rests())
            screen.wait(.seconds(minutes * 60))
            #expect(await !screen.rests())
        }
        try await screen.place.clear()
        #expect(try await screen.place.charge(.real) == .open(remaining: 4))
    }

    @Test func `counts misses at once, and a match ends the row`() async throws {
        let screen = try await Screen(misses(3) + [.match(0)], misses(4))
        await screen.logIn(0)
        #expect(await screen.logIn(0).success != nil)
        await screen.logIn(1)
        #expect(await !screen.rests())
        #expect(try await screen.failures(1) == 3)
    }

    @Test func `forgets a miss after a match, whether or not it had seen any before`() async throws {
        let place = try await Screen([]).place
        for readers in [ReaderClass.real, .pretended] {
            // The count is zero when the touch is asked for, and another person misses before it comes.
            try await place.check(readers)
            #expect(try await place.charge(readers) == .open(remaining: 4))
            try await place.clear()
            #expect(try await place.charge(readers) == .open(remaining: 4))
            try await place.check(readers)
            try await place.clear()
            try await place.clear()
            #expect(try await place.charge(readers) == .open(remaining: 4))
            try await place.clear()
        }
    }

    @Test func `is not where a request names no place`() async throws {
        let screen = try await Screen(misses(5))
        _ = await screen.people[0].evaluate()
        #expect(await screen.people[0].evaluate().code == .biometryLockout)
        #expect(await !screen.rests())
    }
}

@Suite struct `The lock on a person's fingers` {
    @Test func `is lifted by an administrator, and the person's log says by whom`() async throws {
        let fixture = try await Fixture.enrolled(misses(5) + [.match(0)])
        for _ in 0..<2 { _ = await fixture.evaluate() }
        #expect(await fixture.evaluate().code == .biometryLockout)
        let operatorOfKiosk = Asker(user: 1007, process: "whorl")
        #expect(try await fixture.engine().unlock(by: operatorOfKiosk))
        #expect(await fixture.evaluate().success != nil)
        #expect(try await !fixture.engine().unlock(by: operatorOfKiosk))
        let lines = try await AuditLog(database: fixture.database()).entries(limit: 10)
        let line = try #require(lines.first { $0.event == .lockout && $0.outcome == "unlocked" })
        #expect(line.asker?.user == 1007 && line.detail == "by user 1007")
    }

    @Test func `is lifted where only the passcode would end it`() async throws {
        let fixture = try await Fixture.enrolled(misses(5) + [.match(0)])
        let engine = fixture.engine(passcode: MemoryPasscode("1234"))
        for _ in 0..<2 { _ = await fixture.evaluate(engine: engine) }
        fixture.clock.advance(.seconds(90_000))
        #expect(await fixture.evaluate(engine: engine).code == .biometryLockout)
        #expect(try await engine.unlock(by: nil))
        #expect(await fixture.evaluate(engine: engine).success != nil)
    }
}
