// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import WhorlSecretMemory
import Testing
import WhorlService

/// What keeps fingers away, and what a policy that only fingers meet then says.
struct Obstacle: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: ServiceError.Code
    var isConnected = true
    var isEnrolled = true
    var bring: @Sendable (Fixture) async throws -> Void = { _ in }

    static let all = [
        Obstacle(testDescription: "a lockout", code: .biometryLockout) { fixture in
            fixture.reader.add(Array(repeating: .noMatch, count: 5))
            _ = await fixture.evaluate()
            _ = await fixture.evaluate()
        },
        Obstacle(
            testDescription: "no reader",
            code: .biometryNotAvailable,
            isConnected: false,
            isEnrolled: false
        ),
        Obstacle(testDescription: "an unplugged reader", code: .biometryDisconnected, isConnected: false),
        Obstacle(testDescription: "no enrolled finger", code: .biometryNotEnrolled, isEnrolled: false),
        Obstacle(testDescription: "fingers that were changed from outside", code: .enrollmentTampered) {
            try await $0.execute("UPDATE prints SET finger = 1")
        },
        Obstacle(testDescription: "a program that is opted out", code: .biometryOptedOut) {
            try await $0.engine().setOptedOut(true, for: Fixture.application)
        },
    ]
}

@Suite struct `Where no finger can be asked for` {
    private func fixture(_ obstacle: Obstacle) async throws -> Fixture {
        let fixture = try Fixture()
        if obstacle.isEnrolled { try await fixture.enroll(.rightIndex) }
        try await obstacle.bring(fixture)
        return fixture
    }

    @Test(arguments: Obstacle.all)
    func `the passcode alone is asked for, and is enough`(_ obstacle: Obstacle) async throws {
        let fixture = try await fixture(obstacle)
        let scans = fixture.reader.counts.scans
        let presenter = TypingPresenter([.type("0000")]) { update in
            if case .wrongPasscode = update { [.type("1234")] } else { [] }
        }
        let engine = fixture.engine(connected: obstacle.isConnected, passcode: MemoryPasscode())
        #expect(await engine.preflight(.deviceOwner, for: Fixture.application).canEvaluate)
        let evaluation = try #require(await fixture.answer(presenter, engine: engine).success)
        #expect(evaluation.method == .passcode)
        let prompt = try #require(presenter.prompts.first)
        #expect(prompt.parts == .passcode)
        #expect(prompt.title == "org.example.test")
        #expect(prompt.fallbackTitle == nil)
        #expect(
            presenter.updates.suffix(4) == [.checking, .wrongPasscode(triesLeft: 4), .checking, .verified]
        )
        #expect(fixture.reader.counts.scans == scans)
        #expect(try await fixture.log().suffix(1) == ["evaluation passcode"])
    }

    @Test(arguments: Obstacle.all)
    func `a policy of fingers alone asks for no passcode`(_ obstacle: Obstacle) async throws {
        let fixture = try await fixture(obstacle)
        let presenter = TypingPresenter([.type("1234")])
        let authority = MemoryPasscode()
        let engine = fixture.engine(connected: obstacle.isConnected, passcode: authority)
        #expect(await fixture.answer(presenter, Fixture.request(), engine: engine).code == obstacle.code)
        #expect(presenter.prompts.isEmpty)
        #expect(authority.compared == 0)
    }

    @Test(arguments: Obstacle.all)
    func `a prompt without a passcode tells what keeps fingers away`(_ obstacle: Obstacle) async throws {
        let fixture = try await fixture(obstacle)
        let engine = fixture.engine(connected: obstacle.isConnected, passcode: MemoryPasscode())
        let request = Fixture.request(.deviceOwner)
        #expect(await fixture.evaluate(request, engine: engine).code == obstacle.code)
        // Where nobody can be asked at all, that is the answer, as it is where the program allows no prompt.
        let hidden = TypingPresenter(interactive: false)
        #expect(await fixture.answer(hidden, request, engine: engine).code == .notInteractive)
        let shown = TypingPresenter([.type("1234")])
        let silent = Fixture.request(.deviceOwner, interactionAllowed: false)
        #expect(await fixture.answer(shown, silent, engine: engine).code == .notInteractive)
        #expect(shown.prompts.isEmpty)
    }

    @Test(arguments: [
        (Obstacle.all[0], ServiceError.Code.biometryLockout), (Obstacle.all[1], .passcodeNotSet),
        (Obstacle.all[2], .passcodeNotSet), (Obstacle.all[3], .passcodeNotSet),
        (Obstacle.all[4], .enrollmentTampered), (Obstacle.all[5], .passcodeNotSet),
    ])
    func `and no passcode is set, nothing is asked`(
        _ obstacle: Obstacle,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await fixture(obstacle)
        let presenter = TypingPresenter([.type("1234")])
        let engine = fixture.engine(connected: obstacle.isConnected, passcode: MemoryPasscode(nil))
        #expect(await engine.preflight(.deviceOwner, for: Fixture.application).obstacle?.code == code)
        #expect(await fixture.answer(presenter, engine: engine).code == code)
        #expect(presenter.prompts.isEmpty)
    }

    @Test func `the passcode lifts the lock on every kind of reader`() async throws {
        let fixture = try await fixture(Obstacle.all[0])
        try await fixture.execute(
            "INSERT OR REPLACE INTO attempts (profile, reader_class, failures, total_failures, lockouts, pending) "
                + "VALUES ('owner', 'real', 5, 5, 3, 0)"
        )
        #expect(await fixture.answer(TypingPresenter([.type("1234")])).success?.method == .passcode)
        for readers in ReaderClass.allCases {
            let record = try await fixture.record(of: readers)
            #expect(record.failures == 0 && record.lockouts == 0 && record.totalFailures == 5)
        }
        fixture.reader.add([.match(0)])
        #expect(await fixture.evaluate().success?.finger == .rightIndex)
    }

    @Test func `the prompt tells why, where the person may wonder`() async throws {
        let fixture = try await fixture(Obstacle.all[0])
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.press(.cancel)] } else { [] }
        }
        #expect(await fixture.answer(presenter).code == .userCancel)
        #expect(
            presenter.updates.first
                == .fingerEnded(ServiceError(.biometryLockout).message)
        )
    }

    @Test func `a wrong passcode and nobody there any more is a failure`() async throws {
        let fixture = try await fixture(Obstacle.all[3])
        let presenter = TypingPresenter([.type("0000")]) { update in
            if case .wrongPasscode = update { [.leave] } else { [] }
        }
        #expect(await fixture.answer(presenter).code == .authenticationFailed)
        let leaving = TypingPresenter([.leave])
        #expect(await fixture.answer(leaving).code == .systemCancel)
    }

    @Test func `a failing authority or store is no success`() async throws {
        let fixture = try await fixture(Obstacle.all[4])
        let broken = MemoryPasscode()
        let presenter = TypingPresenter { update in
            guard case .fingerEnded = update else { return [] }
            broken.fail()
            return [.type("1234")]
        }
        #expect(await fixture.answer(presenter, passcode: broken).code == .storeFailed)
        try await fixture.execute(
            "CREATE TRIGGER full BEFORE INSERT ON audit WHEN NEW.outcome = 'passcode' "
                + "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        #expect(await fixture.answer(TypingPresenter([.type("1234")])).code == .storeFailed)
    }
}

@Suite struct `A policy of fingers alone, where a passcode is set` {
    @Test func `gives the fallback button to the program, and takes no passcode`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let authority = MemoryPasscode()
        let presenter = TypingPresenter([.type("1234")]) { _ in [.press(.fallback)] }
        let answer = await fixture.answer(presenter, Fixture.request(), passcode: authority)
        #expect(answer.code == .userFallback)
        let prompt = try #require(presenter.prompts.first)
        #expect(prompt.parts == .finger)
        #expect(prompt.fallbackTitle == "Use Password…")
        #expect(presenter.refused == 1)
        #expect(authority.compared == 0)
    }

    @Test func `ends after the third failure, and locks without an end at the fifth`() async throws {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: 5))
        let presenter = TypingPresenter()
        #expect(await fixture.answer(presenter, Fixture.request()).code == .authenticationFailed)
        #expect(await fixture.answer(presenter, Fixture.request()).code == .biometryLockout)
        fixture.clock.advance(.seconds(10_000_000))
        #expect(await fixture.answer(presenter, Fixture.request()).code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 5)
    }
}
