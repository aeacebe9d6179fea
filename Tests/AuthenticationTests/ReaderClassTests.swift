// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import WhorlSecretMemory
import Testing
import WhorlService

// Docs/Security.md: S37
@Suite struct `Tries on a pretended reader` {
    /// Hardware and a mock, with a finger enrolled for each.
    private struct Pair {
        let fixture: Fixture
        let mock = ScriptedReader([], info: .scripted(id: "mock-0", kind: .mock))

        init() async throws {
            fixture = try Fixture(info: .scripted(id: "hardware-0", kind: .hardware))
            try await fixture.enroll(.rightIndex)
            try await fixture.enroll(.rightIndex, on: await mock.info)
        }

        func evaluate(on reader: ScriptedReader? = nil, _ steps: [ScriptedReader.Step]) async
            -> ServiceError.Code?
        {
            let reader = reader ?? fixture.reader
            await end()
            reader.add(steps)
            return await fixture.evaluate(engine: fixture.engine(reader: reader)).code
        }

        /// Waits until the evaluation before has closed its reader: a prompt that had to wait for another one takes no touch
        /// in the time that a person needs, and the steps are there at once.
        private func end() async {
            let path = EvaluationLock.path(in: fixture.directory, profile: "owner")
            // What keeps it from being taken fails the evaluation itself.
            _ = try? await EvaluationLock.acquire(path, within: .seconds(60))
        }

        /// Five failures.
        func lock(_ reader: ScriptedReader) async {
            for _ in 0..<2 { _ = await evaluate(on: reader, [.noMatch, .noMatch, .noMatch]) }
        }
    }

    @Test func `a match on it does not open a lock on hardware`() async throws {
        let pair = try await Pair()
        await pair.lock(pair.fixture.reader)
        #expect(await pair.evaluate([]) == .biometryLockout)
        #expect(await pair.evaluate(on: pair.mock, [.match(0)]) == nil)
        #expect(await pair.evaluate([]) == .biometryLockout)
        #expect(try await pair.fixture.record(of: .real).failures == 5)
    }

    @Test func `a match on it gives no further tries on hardware`() async throws {
        let pair = try await Pair()
        #expect(await pair.evaluate([.noMatch, .noMatch, .noMatch]) == .authenticationFailed)
        #expect(await pair.evaluate(on: pair.mock, [.match(0)]) == nil)
        #expect(await pair.evaluate([.noMatch, .noMatch]) == .biometryLockout)
    }

    @Test func `failures on it do not lock hardware`() async throws {
        let pair = try await Pair()
        await pair.lock(pair.mock)
        #expect(await pair.evaluate(on: pair.mock, []) == .biometryLockout)
        #expect(await pair.evaluate([.match(0)]) == nil)
    }

    @Test func `a further reader of the same class brings no tries`() async throws {
        let pair = try await Pair()
        let second = ScriptedReader([], info: .scripted(id: "hardware-1", kind: .hardware))
        try await pair.fixture.enroll(.leftThumb, on: await second.info)
        await pair.lock(pair.fixture.reader)
        #expect(await pair.evaluate(on: second, [.match(0)]) == .biometryLockout)
        #expect(second.counts.scans == 0)
    }

    @Test func `the passcode opens the lock on every class`() async throws {
        let pair = try await Pair()
        await pair.lock(pair.fixture.reader)
        await pair.lock(pair.mock)
        let engine = pair.fixture.engine(passcode: AnyPasscode())
        var alone = Fixture.request(.deviceOwner)
        alone.takesPasscodeAlone = true
        let typing = TypingPresenter([.type("any one")])
        #expect(await pair.fixture.answer(typing, alone, engine: engine).success?.method == .passcode)
        #expect(await pair.evaluate([.match(0)]) == nil)
        #expect(await pair.evaluate(on: pair.mock, [.match(0)]) == nil)
    }

    @Test func `a match on it is not reused for hardware of the same name`() async throws {
        let pair = try await Pair()
        // A reader cannot take another's name by itself; a record in the database could.
        let impostor = ScriptedReader([.match(0)], info: .scripted(id: "hardware-0", kind: .virtual))
        #expect(await pair.evaluate(on: impostor, []) == nil)
        let request = Fixture.request(reuse: .seconds(60), interactionAllowed: false)
        #expect(await pair.fixture.evaluate(request).code == .notInteractive)
        let again = await pair.fixture.evaluate(request, engine: pair.fixture.engine(reader: impostor))
        #expect(again.success?.isReused == true)
    }

    @Test(arguments: [
        (ReaderInfo.Kind.hardware, ReaderClass.real), (.virtual, .pretended), (.mock, .pretended),
    ])
    func `is every one that is not on hardware`(_ kind: ReaderInfo.Kind, _ expected: ReaderClass) {
        #expect(ReaderClass(kind) == expected)
    }
}

/// Takes any passcode for the right one.
private struct AnyPasscode: PasscodeAuthority {
    var isSet: Bool { true }
    func verify(_ passcode: borrowing SecretBytes) -> PasscodeVerdict { .verified }
}
