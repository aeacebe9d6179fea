// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import WhorlSecretMemory
import WhorlStateStore
import Synchronization
import Testing
import WhorlService
import WhorlSupport

/// Both ways succeed at nearly the same moment; each test fixes the order.
@Suite struct `A finger and a passcode that are right at the same time` {
    @Test func `are one success by the finger, when it matches while the passcode is compared`() async throws
    {
        let comparing = Gate()
        let fixture = try await Fixture.enrolled([.perform { await comparing.pass() }, .match(0)])
        // The verdict comes when the evaluation is decided, and it is "verified".
        let authority = MemoryPasscode {
            comparing.open()
            await cancellation()
        }
        let presenter = TypingPresenter { $0 == .scan(.touch) ? [.type("1234")] : [] }
        #expect(await fixture.answer(presenter, passcode: authority).success?.method == .biometry)
        #expect(authority.compared == 1)
        #expect(presenter.updates == [.scan(.touch), .checking, .matched(.rightIndex)])
        #expect(try await fixture.log() == ["evaluation matched"])
    }

    @Test func `are one success by the passcode, when the finger matches afterwards`() async throws {
        let fixture = try await Fixture.enrolled([.perform { await cancellation() }, .match(0)])
        let presenter = TypingPresenter { $0 == .scan(.touch) ? [.type("1234")] : [] }
        #expect(await fixture.answer(presenter).success?.method == .passcode)
        #expect(presenter.updates == [.scan(.touch), .checking, .verified])
        #expect(try await fixture.log() == ["evaluation passcode"])
        #expect(try await !fixture.record().isPending)
        #expect(!fixture.reader.isOpen)
    }

    @Test func `are one success by the passcode, when the finger does not match afterwards; that try counts`()
        async throws
    {
        let fixture = try await Fixture.enrolled([.perform { await cancellation() }, .noMatch])
        let presenter = TypingPresenter { $0 == .scan(.touch) ? [.type("1234")] : [] }
        #expect(await fixture.answer(presenter).success?.method == .passcode)
        #expect(try await fixture.log() == ["evaluation passcode", "failedTry noMatch"])
        #expect(try await fixture.record().failures == 1)
    }

    @Test func `are written down once, whoever comes to the disk first`() async throws {
        for order in [[Evaluation.Method.passcode, .biometry], [.biometry, .passcode]] {
            let fixture = try await Fixture.enrolled([])
            let (bookkeeping, match, fingers) = try await parts(fixture)
            let decision = Decision()
            try await bookkeeping.reserve()
            try await write(order[0], bookkeeping, match, fingers, decision)
            await #expect(throws: ServiceError(.appCancel)) {
                try await write(order[1], bookkeeping, match, fingers, decision)
            }
            let first = order[0] == .passcode ? "evaluation passcode" : "evaluation matched"
            #expect(try await fixture.log() == [first])
            #expect(try await !fixture.record().isPending)
            let reusable = try await bookkeeping.reusableMatch(of: fingers, within: .seconds(60))
            #expect((reusable != nil) == (order[0] == .biometry))
        }
    }

    @Test func `leave the success to the other one, when the first cannot be written down`() async throws {
        let fixture = try await Fixture.enrolled([])
        let (bookkeeping, match, fingers) = try await parts(fixture)
        let decision = Decision()
        try await bookkeeping.reserve()
        try await fixture.execute(
            "CREATE TRIGGER full BEFORE INSERT ON reuse BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        await #expect(throws: ServiceError.self) {
            try await bookkeeping.settle(match, of: fingers, decision)
        }
        try await bookkeeping.settlePasscode(decision)
        #expect(try await fixture.log() == ["evaluation passcode"])
    }

    private func write(
        _ method: Evaluation.Method,
        _ bookkeeping: EvaluationBookkeeping,
        _ match: ReusableMatch,
        _ fingers: EnrollmentSnapshot,
        _ decision: Decision
    ) async throws(ServiceError) {
        switch method {
        case .biometry: try await bookkeeping.settle(match, of: fingers, decision)
        case .passcode: try await bookkeeping.settlePasscode(decision)
        }
    }

    private func parts(_ fixture: Fixture) async throws -> (
        EvaluationBookkeeping, ReusableMatch, EnrollmentSnapshot
    ) {
        let info = await fixture.reader.info
        var bookkeeping = EvaluationBookkeeping(
            database: try fixture.database(),
            profile: fixture.profile,
            application: Fixture.application,
            reader: info,
            reason: "",
            lockEndsByTime: false,
            time: fixture.clock.time
        )
        bookkeeping.stay = "a stay"
        let fingers = try await fixture.store().snapshot(of: fixture.profile)
        let finger = try #require(await fixture.store().fingers(of: fixture.profile).first)
        let match = ReusableMatch(
            print: finger.id,
            finger: finger.finger,
            profile: fixture.profile,
            generation: fingers.generation,
            reader: info,
            in: "a stay",
            at: fixture.clock.time.now()
        )
        return (bookkeeping, match, fingers)
    }
}

@Suite struct `Whatever ends an evaluation with a passcode` {
    @Test func `ends both ways: the program cancels while both go on`() async throws {
        let comparing = Gate()
        let fixture = try await Fixture.enrolled([.wait])
        let authority = MemoryPasscode {
            comparing.open()
            await cancellation()
        }
        let presenter = TypingPresenter { $0 == .scan(.touch) ? [.type("1234")] : [] }
        let task = Task { await fixture.answer(presenter, passcode: authority) }
        await comparing.pass()
        task.cancel()
        // The passcode turned out to be the right one, too late.
        #expect(await task.value.code == .appCancel)
        #expect(authority.compared == 1)
        #expect(!presenter.isShown)
        #expect(!fixture.reader.isOpen)
        #expect(try await !fixture.record().isPending)
        #expect(try await fixture.log() == ["evaluation appCancel"])
    }

    @Test(arguments: [
        (PromptAction.cancel, ServiceError.Code.userCancel), (.fallback, .userFallback),
    ])
    func `ends both ways: a button while a passcode is compared`(
        _ button: PromptAction,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let authority = MemoryPasscode { await cancellation() }
        let presenter = TypingPresenter { update in
            switch update {
            case .scan(.touch): [.type("1234")]
            case .checking: [.press(button)]
            default: []
            }
        }
        #expect(await fixture.answer(presenter, passcode: authority).code == code)
        #expect(!fixture.reader.isOpen)
        #expect(try await fixture.log() == ["evaluation \(code.rawValue)"])
    }

    @Test func `ends both ways: nobody does anything for too long`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = TypingPresenter()
        let request = Fixture.request(.deviceOwner, timeout: .milliseconds(50))
        #expect(await fixture.answer(presenter, request).code == .timedOut)
        #expect(presenter.updates.last == .ended("No touch or passcode before the timeout."))
        #expect(!fixture.reader.isOpen)
        #expect(try await !fixture.record().isPending)
        #expect(await fixture.answer(TypingPresenter(), request, connected: false).code == .timedOut)
    }

    @Test func `waits anew after each thing that the person does`() async throws {
        let idle = IdleTimeout(.seconds(3600))
        let before = idle.deadline
        idle.restart()
        #expect(idle.deadline > before)
        // The evaluation's own entry does so: for keys, for passcodes, and for what the reader tells.
        let restarts = Mutex(0)
        let entry = PromptEntry(.passcode) { restarts.withLock { $0 += 1 } }
        entry.typing()
        entry.submit(secret("1234"))
        entry.send(.scan(.touch))
        #expect(restarts.withLock(\.self) == 3)
        #expect(await IdleTimeout(.zero).end())
    }

    @Test func `cancels the wait itself`() async {
        let task = Task { await IdleTimeout(.seconds(3600)).end() }
        task.cancel()
        #expect(await task.value == false)
    }
}
