// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import SoftwareTPM
import Testing
import WhorlService
import WhorlVault

/// The strength that a machine demands of each touch.
@Suite struct `A machine that demands` {
    static let twoFingers = TouchStrength(hasTwoFingers: true)
    static let passcode = TouchStrength(hasPasscode: true)

    private func fixture(_ steps: [ScriptedReader.Step], info: ReaderInfo = .scripted()) async throws
        -> Fixture
    {
        // The newest print comes first: entry 0 is the left thumb.
        try await Fixture.enrolled([.rightIndex, .leftThumb], info: info, steps: steps)
    }

    // MARK: - Two fingers

    @Test func `two fingers asks for a different one after the first`() async throws {
        let fixture = try await fixture([.match(0), .match(1)])
        let presenter = ScriptedPresenter()
        let engine = fixture.engine(strength: Self.twoFingers)
        let evaluation = try #require(await fixture.evaluate(engine: engine, presenter: presenter).success)
        #expect(evaluation.finger == .leftThumb && evaluation.strength.hasTwoFingers)
        #expect(
            presenter.updates == [.scan(.touch), .anotherFinger, .scan(.touch), .matched(.leftThumb)]
        )
        #expect(try await fixture.log() == ["evaluation matched", "evaluation matched"])
    }

    @Test func `two fingers takes the same one twice for one`() async throws {
        let fixture = try await fixture([.match(0), .match(0), .match(0), .match(1)])
        let presenter = ScriptedPresenter()
        let engine = fixture.engine(strength: Self.twoFingers)
        #expect(await fixture.evaluate(engine: engine, presenter: presenter).success != nil)
        #expect(presenter.updates.count { $0 == .anotherFinger } == 3)
        #expect(try await fixture.record().failures == 0)
    }

    @Test func `two fingers ends where only one of them is ever shown`() async throws {
        let fixture = try await fixture(Array(repeating: .match(0), count: 60))
        let engine = fixture.engine(strength: Self.twoFingers)
        #expect(await fixture.evaluate(engine: engine).code == .systemCancel)
        #expect(fixture.reader.counts.scans <= 31)
        #expect(try await fixture.log() == ["evaluation systemCancel"])
    }

    @Test func `two fingers gives no tries back for the first of them`() async throws {
        let fixture = try await fixture([.noMatch, .match(0), .noMatch, .match(0), .noMatch])
        let engine = fixture.engine(strength: Self.twoFingers)
        #expect(await fixture.evaluate(engine: engine).code == .authenticationFailed)
        #expect(try await fixture.record().failures == 3)
    }

    @Test func `two fingers is not met by a match from a moment ago`() async throws {
        let fixture = try await fixture([.match(0), .match(1), .match(0), .match(1)])
        let engine = fixture.engine(strength: Self.twoFingers)
        let request = Fixture.request(reuse: .seconds(300))
        for scans in [2, 4] {
            #expect(await fixture.evaluate(request, engine: engine).success?.isReused == false)
            #expect(fixture.reader.counts.scans == scans)
        }
    }

    @Test func `two fingers says so before a touch where one is enrolled`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let engine = fixture.engine(strength: Self.twoFingers)
        let preflight = await engine.preflight(.biometrics, for: Fixture.application)
        #expect(preflight.obstacle?.code == .biometryNotEnrolled)
        #expect(await fixture.evaluate(engine: engine).code == .biometryNotEnrolled)
        #expect(fixture.reader.counts.opens == 0)
    }

    @Test func `two fingers lets the only one agree to the second`() async throws {
        let fixture = try await Fixture.enrolled([.match(0), .match(0)])
        let engine = fixture.engine(strength: Self.twoFingers)
        let request = ConsentRequest(application: Fixture.application)
        let consent = try await engine.consent(
            to: .add(.leftThumb),
            request,
            presenter: ScriptedPresenter()
        )
        #expect(consent != nil)
    }

    @Test func `two fingers compares the second with another print where the reader knows one at a time`()
        async throws
    {
        let fixture = try await fixture([.match(0), .match(0)], info: .scripted(features: [.verify]))
        let engine = fixture.engine(strength: Self.twoFingers)
        #expect(await fixture.evaluate(engine: engine).success?.strength.hasTwoFingers == true)
        let templates = [Finger.leftThumb, .rightIndex].map { Template(bytes: Array($0.rawValue.utf8)) }
        #expect(fixture.reader.counts.verified == templates)
    }

    // MARK: - A reader

    @Test func `match on chip refuses a reader whose images this computer compares`() async throws {
        let strength = TouchStrength(isMatchedOnChip: true)
        let weak = try await fixture([.match(0)])
        #expect(await weak.evaluate(engine: weak.engine(strength: strength)).code == .readerUnsupported)
        #expect(weak.reader.counts.opens == 0)
        let strong = try await fixture([.match(0)], info: .scripted(storage: .reader))
        let met = await strong.evaluate(engine: strong.engine(strength: strength)).success?.strength
        #expect(met == TouchStrength(reader: ReaderID(rawValue: "scripted-0"), isMatchedOnChip: true))
    }

    @Test func `one reader refuses another`() async throws {
        let fixture = try await fixture([.match(0)])
        let other = TouchStrength(reader: ReaderID(rawValue: "scripted-1"))
        #expect(await fixture.evaluate(engine: fixture.engine(strength: other)).code == .biometryDisconnected)
        let this = TouchStrength(reader: ReaderID(rawValue: "scripted-0"))
        #expect(await fixture.evaluate(engine: fixture.engine(strength: this)).success != nil)
    }

    // MARK: - The passcode

    @Test(arguments: [Policy.biometrics, .deviceOwner])
    func `the passcode asks for it after the finger`(policy: Policy) async throws {
        let fixture = try await fixture([.match(0)])
        let engine = fixture.engine(passcode: MemoryPasscode(), strength: Self.passcode)
        let presenter = TypingPresenter([.type("1234")])
        let evaluation = await fixture.answer(presenter, Fixture.request(policy), engine: engine).success
        #expect(evaluation?.method == .biometry && evaluation?.strength.hasPasscode == true)
        #expect(presenter.prompts.map(\.parts) == [.finger, .passcode])
    }

    @Test func `the passcode gives nothing for a finger and a wrong one`() async throws {
        let fixture = try await fixture([.match(0)])
        let engine = fixture.engine(passcode: MemoryPasscode(), strength: Self.passcode)
        let presenter = TypingPresenter([.type("4321")]) {
            $0 == .wrongPasscode(triesLeft: 4) ? [.leave] : []
        }
        #expect(await fixture.answer(presenter, Fixture.request(), engine: engine).success == nil)
        #expect(fixture.reader.counts.scans == 1)
    }

    @Test func `the passcode lets neither stand in for the other`() async throws {
        let fixture = try await fixture([.noMatch, .noMatch, .noMatch])
        let engine = fixture.engine(passcode: MemoryPasscode(), strength: Self.passcode)
        let presenter = TypingPresenter([.type("1234")])
        #expect(
            await fixture.answer(presenter, Fixture.request(.deviceOwner), engine: engine).code
                == .authenticationFailed
        )
        let without = fixture.engine(connected: false, passcode: MemoryPasscode(), strength: Self.passcode)
        #expect(
            await fixture.answer(presenter, Fixture.request(.deviceOwner), engine: without).code
                == .biometryDisconnected
        )
    }

    @Test func `the passcode refuses a prompt that takes none, before a touch`() async throws {
        let fixture = try await fixture([.match(0)])
        let engine = fixture.engine(passcode: MemoryPasscode(), strength: Self.passcode)
        #expect(await fixture.evaluate(engine: engine).code == .notInteractive)
        let none = fixture.engine(passcode: MemoryPasscode(nil), strength: Self.passcode)
        #expect(await fixture.evaluate(engine: none).code == .passcodeNotSet)
        #expect(fixture.reader.counts.opens == 0)
    }
}

/// The strength that an item demands of each touch.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `An item that demands` {
    @Test func `two fingers does not open with a touch that the session has`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0), .match(0), .match(1)])
        try await bench.enroll(.leftThumb)
        let engine = bench.engine()
        let access = try AccessControl("biometry-any+two-fingers")
        let item = try await engine.handlers.seal(box("x"), access: access, applicationPassword: nil)
        let session = OwnerSession()
        var request = Fixture.request()
        request.session = session
        _ = try await engine.evaluate(request, presenter: ScriptedPresenter())
        #expect(
            await refusal {
                try await engine.handlers.secret(
                    in: .sealed(item),
                    release(in: session, interactionAllowed: false),
                    presenter: ScriptedPresenter()
                )
            }?.code == .notInteractive
        )
        let given = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session),
            presenter: ScriptedPresenter()
        )
        #expect(
            given.evaluations.map(\.strength.hasTwoFingers) == [true] && data(given.product) == data(box("x"))
        )
        let again = try await engine.handlers.secret(
            in: .sealed(item),
            release(in: session, interactionAllowed: false),
            presenter: ScriptedPresenter()
        )
        #expect(again.evaluations.isEmpty)
    }

    @Test func `a finger opens nothing in the session where the machine wants the passcode too`() async throws
    {
        let bench = try await VaultFixture.enrolled([.match(0)])
        let engine = bench.engine(strength: TouchStrength(hasPasscode: true))
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let both = try AccessControl("biometry-any-and-passcode")
        let finger = try await engine.handlers.seal(box("x"), access: .biometryAny, applicationPassword: nil)
        let item = try await engine.handlers.seal(box("y"), access: both, applicationPassword: nil)
        let session = OwnerSession()
        // The finger is right, and the person goes away from the prompt for the passcode.
        let leaving = LeavingAtPasscode(other: TypingPresenter())
        #expect(
            await refusal {
                try await engine.handlers.secret(in: .sealed(item), release(in: session), presenter: leaving)
            } != nil
        )
        #expect(
            await refusal {
                try await engine.handlers.secret(
                    in: .sealed(finger),
                    release(in: session, interactionAllowed: false),
                    presenter: leaving
                )
            }?.code == .notInteractive
        )
    }
}

/// A person who touches the reader, and cancels where the passcode is asked for.
private struct LeavingAtPasscode: PromptPresenter {
    let other: TypingPresenter

    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        prompt.parts == .passcode ? .cancel : await other.show(prompt, entry)
    }
}
