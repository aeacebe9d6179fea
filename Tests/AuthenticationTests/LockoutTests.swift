// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import WhorlSecretMemory
import WhorlStateStore
import Testing
import WhorlService

/// Steps for so many failures; each evaluation takes three of them at most.
private func failures(_ count: Int) -> [ScriptedReader.Step] { Array(repeating: .noMatch, count: count) }

// Docs/Security.md: S32
/// An authority that knows one passcode, or cannot tell.
private struct ScriptedAuthority: PasscodeAuthority {
    var right: String? = "1234"
    var failure: ServiceError?

    var isSet: Bool {
        get throws(ServiceError) {
            if let failure { throw failure }
            return right != nil
        }
    }

    func verify(_ passcode: borrowing SecretBytes) throws(ServiceError) -> PasscodeVerdict {
        if let failure { throw failure }
        guard let right else { return .notSet }
        return passcode.withBytes { typed in
            constantTimeEqual(typed, Array(right.utf8).span.bytes)
        } ? .verified : .wrong(triesLeft: nil)
    }
}

@Suite struct `The lock after five failures` {
    @Test func `counts over evaluations and engines, and tells what is left`() async throws {
        let fixture = try await Fixture.enrolled(failures(5))
        #expect(await fixture.evaluate().code == .authenticationFailed)
        let presenter = ScriptedPresenter()
        let result = await fixture.evaluate(presenter: presenter)
        #expect(result.code == .biometryLockout)
        #expect(presenter.updates.contains(.noMatch(remaining: 1)))
        #expect(presenter.updates.contains(.noMatch(remaining: 0)))
        #expect(fixture.reader.counts.scans == 5)
        // The next one does not even open the reader.
        #expect(await fixture.evaluate().code == .biometryLockout)
        #expect(fixture.reader.counts.opens == 2)
        #expect(fixture.reader.counts.closes == 2)
        let log = try await fixture.log()
        #expect(log.filter { $0 == "failedTry noMatch" }.count == 5)
        #expect(log.filter { $0 == "lockout locked" }.count == 1)
    }

    @Test func `comes earlier where the machine's rules say so`() async throws {
        let fixture = try await Fixture.enrolled(failures(2))
        let engine = fixture.engine(rules: AttemptRules(tries: 2, firstLockMinutes: 30))
        let presenter = ScriptedPresenter()
        let result = await fixture.evaluate(engine: engine, presenter: presenter)
        #expect(result.code == .biometryLockout)
        #expect(presenter.updates.contains(.noMatch(remaining: 1)))
        #expect(presenter.updates.contains(.noMatch(remaining: 0)))
        let status = try #require(try await engine.attempts().first { $0.failures > 0 })
        #expect(status.remaining == 0)
        fixture.clock.advance(.seconds(29 * 60))
        #expect(await fixture.evaluate(engine: engine).code == .biometryLockout)
        #expect(fixture.reader.counts.opens == 1)
        fixture.clock.advance(.seconds(60))
        fixture.reader.add([.match(0)])
        #expect(await fixture.evaluate(engine: engine).success?.finger == .rightIndex)
    }

    @Test func `is told by the preflight, with the domain state`() async throws {
        let fixture = try await Fixture.enrolled(failures(5))
        let engine = fixture.engine()
        let before = await engine.preflight(.biometrics, for: Fixture.application)
        #expect(before.canEvaluate)
        #expect(before.domainState?.count == 32)
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        let after = await engine.preflight(.biometrics, for: Fixture.application)
        #expect(after.obstacle?.code == .biometryLockout)
        #expect(after.domainState == before.domainState)
    }

    @Test func `ends by time where no passcode is set, with one try that doubles the next lock`() async throws
    {
        let fixture = try await Fixture.enrolled(failures(7))
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.advance(.seconds(299))
        #expect(await fixture.evaluate().code == .biometryLockout)
        fixture.clock.advance(.seconds(1))
        #expect(await fixture.evaluate().code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 6)
        fixture.clock.advance(.seconds(599))
        #expect(await fixture.evaluate().code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 6)
        fixture.clock.advance(.seconds(1))
        #expect(await fixture.evaluate().code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 7)
        #expect(try await fixture.record().lockouts == 3)
    }

    @Test func `is forgotten after a match`() async throws {
        let fixture = try await Fixture.enrolled(failures(5) + [.match(0)] + failures(3))
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.advance(.seconds(300))
        #expect(await fixture.evaluate().success != nil)
        #expect(try await fixture.record().lockouts == 0)
        #expect(await fixture.evaluate().code == .authenticationFailed)
    }

    @Test(arguments: [Duration.seconds(-10_000_000), .seconds(10_000_000)])
    func `does not hear of the wall clock being set`(_ shift: Duration) async throws {
        let fixture = try await Fixture.enrolled(failures(5) + [.match(0)])
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.setWall(by: shift)
        fixture.clock.advance(.seconds(299))
        #expect(await fixture.evaluate().code == .biometryLockout)
        fixture.clock.advance(.seconds(1))
        #expect(await fixture.evaluate().success != nil)
    }

    @Test func `outlives a restart, by the wall clock`() async throws {
        let fixture = try await Fixture.enrolled(failures(5) + [.match(0)])
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.reboot(after: .seconds(200))
        #expect(await fixture.evaluate().code == .biometryLockout)
        fixture.clock.advance(.seconds(100))
        #expect(await fixture.evaluate().success != nil)
    }

    @Test func `begins anew after a restart with the wall clock set back`() async throws {
        let fixture = try await Fixture.enrolled(failures(5) + [.match(0)])
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.advance(.seconds(200))
        fixture.clock.setWall(by: .seconds(-100_000))
        fixture.clock.reboot()
        // The restarted clock stands at one second.
        fixture.clock.advance(.seconds(298))
        #expect(await fixture.evaluate().code == .biometryLockout)
        fixture.clock.advance(.seconds(1))
        #expect(await fixture.evaluate().success != nil)
    }

    @Test func `is not ended by time where a passcode is set, nor where that cannot be told`() async throws {
        let fixture = try await Fixture.enrolled(failures(5))
        _ = await fixture.evaluate()
        _ = await fixture.evaluate()
        fixture.clock.advance(.seconds(1_000_000))
        let withPasscode = fixture.engine(passcode: ScriptedAuthority())
        #expect(await fixture.evaluate(engine: withPasscode).code == .biometryLockout)
        let unclear = ScriptedAuthority(failure: ServiceError(.storeFailed))
        #expect(await fixture.evaluate(engine: fixture.engine(passcode: unclear)).code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 5)
    }

    // Docs/Security.md: C10
    @Test func `is lifted by the right passcode, and by nothing else`() async throws {
        let fixture = try await Fixture.enrolled(failures(5) + [.match(0)])
        let engine = fixture.engine(passcode: ScriptedAuthority())
        _ = await fixture.evaluate(engine: engine)
        _ = await fixture.evaluate(engine: engine)
        var alone = Fixture.request(.deviceOwner)
        alone.takesPasscodeAlone = true
        let asked = alone
        func type(_ passcode: String, _ engine: AuthenticationEngine) async -> ServiceError.Code? {
            await fixture.answer(TypingPresenter([.type(passcode), .leave]), asked, engine: engine).code
        }
        #expect(await type("0000", engine) == .authenticationFailed)
        #expect(await fixture.evaluate(engine: engine).code == .biometryLockout)
        #expect(await type("1234", fixture.engine()) == .passcodeNotSet)
        #expect(await fixture.evaluate(engine: engine).code == .biometryLockout)
        let broken = fixture.engine(passcode: ScriptedAuthority(failure: ServiceError(.storeFailed)))
        #expect(await type("1234", broken) == .storeFailed)
        #expect(await fixture.evaluate(engine: engine).code == .biometryLockout)

        #expect(await type("1234", engine) == nil)
        #expect(try await fixture.record().totalFailures == 5)
        #expect(await fixture.evaluate(engine: engine).success != nil)
        #expect(try await fixture.log().contains("passcode unlocked"))
    }

    @Test func `under deviceOwner is the passcode's business where one is set`() async throws {
        let fixture = try await Fixture.enrolled(failures(5))
        let engine = fixture.engine(passcode: ScriptedAuthority())
        _ = await fixture.evaluate(engine: engine)
        _ = await fixture.evaluate(engine: engine)
        #expect(await engine.preflight(.deviceOwner, for: Fixture.application).canEvaluate)
        #expect(
            await fixture.engine().preflight(.deviceOwner, for: Fixture.application).obstacle?.code
                == .biometryLockout
        )
        // Entering it is not this engine's part: it says what keeps the finger away.
        #expect(
            await fixture.evaluate(Fixture.request(.deviceOwner), engine: engine).code == .biometryLockout
        )
    }
}

@Suite struct `The ledger on the disk` {
    /// Both say the same: one as a rule, one as a statement.
    @Test(arguments: [0, 2, 5, 6])
    func `is reset as a record is, on its own class of readers alone`(_ failures: Int) async throws {
        let fixture = try Fixture()
        let database = try fixture.database()
        let now = fixture.clock.time.now()
        let profile = fixture.profile
        try await database.write { db in
            for ledger in AttemptLedger.all(of: profile) {
                var record = AttemptRecord.fresh()
                for _ in 0..<failures {
                    _ = record.reserve(at: now, endsByTime: false)
                    record.charge(at: now)
                }
                _ = record.reserve(at: now, endsByTime: false)
                try ledger.save(record, in: db)
            }
            let real = AttemptLedger(profile: profile, readers: .real)
            var expected = try real.record(in: db)
            expected.reset()
            let pretended = AttemptLedger(profile: profile, readers: .pretended)
            let untouched = try pretended.record(in: db)
            try real.reset(in: db)
            #expect(try real.record(in: db) == expected)
            #expect(try pretended.record(in: db) == untouched)
        }
    }
}

@Suite struct `A try that was begun and never settled` {
    /// A run that dies between its scan and its bookkeeping leaves what this leaves.
    private func reserveAndDie(_ fixture: Fixture) async throws {
        let database = try fixture.database()
        let bookkeeping = EvaluationBookkeeping(
            database: database,
            profile: fixture.profile,
            application: Fixture.application,
            reader: await fixture.reader.info,
            reason: "",
            lockEndsByTime: true,
            time: fixture.clock.time
        )
        try await bookkeeping.reserve()
    }

    @Test func `is a failure for the next run`() async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .match(0)])
        try await reserveAndDie(fixture)
        #expect(try await fixture.record().failures == 0)
        let presenter = ScriptedPresenter()
        #expect(await fixture.evaluate(presenter: presenter).success != nil)
        #expect(try await fixture.record().totalFailures == 3)
        #expect(try await fixture.log().first == "failedTry abandoned")
    }

    @Test func `five times is a lock`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        for _ in 0..<5 { try await reserveAndDie(fixture) }
        let presenter = ScriptedPresenter()
        #expect(await fixture.evaluate(presenter: presenter).code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 0)
        #expect(fixture.reader.counts.closes == fixture.reader.counts.opens)
        #expect(try await fixture.record().failures == 5)
        #expect(try await fixture.log().contains("lockout locked"))
    }

    @Test func `does not stand in the way of a lock that ends by time`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        for _ in 0..<5 { try await reserveAndDie(fixture) }
        #expect(await fixture.evaluate().code == .biometryLockout)
        fixture.clock.advance(.seconds(300))
        #expect(await fixture.evaluate().success != nil)
    }
}
