// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Testing

@testable import WhorlEngine
@testable import WhorlEnrollment
@testable import WhorlVault
import WhorlService

/// The engine asks the owner before the enrolled fingers change, as it asks in every evaluation.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Asking the owner` {
    private static let add = OwnerConsent.Change.add(.leftThumb)
    private static let request = ConsentRequest(application: Fixture.application, timeout: .seconds(600))

    private func consent(
        _ engine: AuthenticationEngine,
        to change: OwnerConsent.Change = add,
        _ request: ConsentRequest = request,
        presenter: any PromptPresenter = ScriptedPresenter()
    ) async -> Result<OwnerConsent?, ServiceError> {
        do throws(ServiceError) {
            return .success(try await engine.consent(to: change, request, presenter: presenter))
        } catch {
            return .failure(error)
        }
    }

    private func enroll(
        _ fixture: Fixture,
        _ engine: AuthenticationEngine,
        _ consent: OwnerConsent?,
        _ touches: [ScriptedReader.Step]
    ) async throws -> ServiceError? {
        fixture.reader.add([.template(Template(bytes: Array("new".utf8)))] + touches)
        let enroller = engine.enroller(try fixture.store(), for: Fixture.application)
        do throws(ServiceError) {
            _ = try await enroller.enroll(.leftThumb, profile: "owner", on: fixture.reader, consent: consent)
            return nil
        } catch {
            return error
        }
    }

    @Test func `nobody is asked for the first finger where no passcode is set`() async throws {
        let fixture = try Fixture()
        let presenter = ScriptedPresenter()
        #expect(try await consent(fixture.engine(), presenter: presenter).get() == nil)
        #expect(try await enroll(fixture, fixture.engine(), nil, [.match(0)]) == nil)
        #expect(presenter.prompts.isEmpty)
    }

    @Test func `a touch of an enrolled finger agrees, and the log says what to`() async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .match(0)])
        let engine = fixture.engine()
        let presenter = ScriptedPresenter()
        let agreed = try await consent(engine, presenter: presenter).get()
        #expect(agreed?.proof == .finger)
        #expect(presenter.prompts.map(\.reason) == ["touch an enrolled finger to enroll the left thumb"])
        #expect(presenter.prompts.map(\.fallbackTitle) == [nil])
        #expect(try await enroll(fixture, engine, agreed, [.match(1)]) == nil)
        #expect(try await fixture.store().fingers(of: "owner").count == 2)
        let log = try await AuditLog(database: fixture.database()).entries(limit: 10)
        #expect(log.map(\.outcome) == ["matched", "noMatch"])
        #expect(log.allSatisfy { $0.detail == "touch an enrolled finger to enroll the left thumb" })
    }

    @Test func `an earlier match does not stand in for the touch`() async throws {
        let fixture = try await Fixture.enrolled([.match(0), .noMatch, .noMatch, .noMatch])
        #expect(await fixture.evaluate().success != nil)
        #expect(await consent(fixture.engine()).code == .authenticationFailed)
    }

    // Docs/Security.md: S10
    @Test func `three other fingers are refused, and each is charged before its scan`() async throws {
        let fixture = try await Fixture.enrolled([])
        fixture.reader.add([
            .perform { [fixture] in #expect((try? await fixture.record().isPending) == true) },
            .noMatch, .noMatch, .noMatch,
        ])
        #expect(await consent(fixture.engine()).code == .authenticationFailed)
        #expect(try await fixture.record().failures == 3)
        #expect(try await enroll(fixture, fixture.engine(), nil, [.match(0)])?.code == .ownerNeeded)
        #expect(fixture.reader.counts.enrollments == 0)
    }

    @Test func `the passcode agrees beside the finger, or alone where it is there already`() async throws {
        let bench = try await VaultFixture.enrolled([])
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let typing = TypingPresenter([.type("1234")])
        let agreed = try await consent(bench.engine(), presenter: typing).get()
        #expect(agreed?.proof == .passcode)
        #expect(typing.prompts.map(\.parts) == [[.finger, .passcode]])
        let words = "touch an enrolled finger, or type the passcode, to enroll the left thumb"
        #expect(typing.prompts.map(\.reason) == [words])

        let scans = bench.fixture.reader.counts.scans
        let alone = ConsentRequest(application: Fixture.application, passcodeAlone: true)
        let preset = PresetPasscode(box("1234"), on: ScriptedPresenter(interactive: false))
        #expect(try await consent(bench.engine(), alone, presenter: preset).get()?.proof == .passcode)
        #expect(bench.fixture.reader.counts.scans == scans)
        let wrong = PresetPasscode(box("0000"), on: ScriptedPresenter(interactive: false))
        #expect(await consent(bench.engine(), alone, presenter: wrong).code == .authenticationFailed)
    }

    @Test func `the passcode is asked for where it is set and no finger is enrolled`() async throws {
        let bench = try await VaultFixture()
        try await bench.vault.setPasscode(box("1234"), of: "owner")
        let typing = TypingPresenter([.type("1234")])
        #expect(try await consent(bench.engine(), presenter: typing).get()?.proof == .passcode)
        #expect(typing.prompts.map(\.parts) == [.passcode])
    }

    @Test func `while fingers are locked no touch is offered, and the passcode agrees`() async throws {
        let bench = try await VaultFixture.enrolled(Array(repeating: .noMatch, count: 5))
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        let engine = bench.engine()
        for _ in 0..<2 { _ = await bench.fixture.evaluate(engine: engine) }
        let mute = await consent(engine, presenter: ScriptedPresenter())
        #expect(mute.code == .biometryLockout)
        let typing = TypingPresenter([.type("1234")])
        #expect(try await consent(engine, presenter: typing).get()?.proof == .passcode)
        #expect(typing.prompts.map(\.parts) == [.passcode])
        #expect(typing.prompts.map(\.reason) == ["type the passcode to enroll the left thumb"])
        #expect(bench.fixture.reader.counts.scans == 5)
    }

    @Test func `while fingers are locked and no passcode is set, nobody can agree`() async throws {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: 5))
        for _ in 0..<2 { _ = await fixture.evaluate() }
        #expect(await consent(fixture.engine()).code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 5)
    }

    @Test func `changed fingers agree to nothing; the passcode accepts them`() async throws {
        let bench = try await VaultFixture.enrolled([.match(0)])
        try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "owner"))
        try await bench.fixture.execute("UPDATE prints SET enrolled_at = enrolled_at + 1")
        let engine = bench.engine()
        #expect(await consent(engine).code == .enrollmentTampered)
        let typing = TypingPresenter([.type("1234")])
        let agreed = try await consent(engine, to: .accept, presenter: typing).get()
        #expect(agreed?.proof == .passcode && typing.prompts.map(\.parts) == [.passcode])
        #expect(bench.fixture.reader.counts.scans == 0)
    }

    @Test func `changed fingers without a passcode can only be given up`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        try await fixture.execute("UPDATE prints SET enrolled_at = enrolled_at + 1")
        #expect(await consent(fixture.engine(), to: .accept).code == .passcodeNotSet)
        #expect(try await consent(fixture.engine(), to: .remove(.all)).get() == nil)
        #expect(fixture.reader.counts.scans == 0)
    }

    @Test func `a first passcode needs a touch where a finger is enrolled`() async throws {
        let bench = try await VaultFixture.enrolled([.noMatch, .noMatch, .noMatch, .match(0)])
        let engine = bench.engine()
        let (vault, session) = (bench.vault, OwnerSession())
        func ask() async throws(ServiceError) {
            try await engine.askForFirstPasscode(Self.request, in: session, presenter: ScriptedPresenter())
        }
        await #expect(throws: ServiceError.self) { try await ask() }
        let nothing = await engine.proofForFirstPasscode(Self.request, in: session, vault)
        await #expect(throws: ServiceError.self) {
            try await vault.setPasscode(box("1234"), of: "owner", shown: nothing)
        }
        try await ask()
        let shown = await engine.proofForFirstPasscode(Self.request, in: session, vault)
        await #expect(throws: ServiceError.self) {
            try await vault.setPasscode(box("1234"), of: "owner", shown: .matchedFinger(of: "somebody"))
        }
        try await vault.setPasscode(box("1234"), of: "owner", shown: shown)
        #expect(try await vault.isPasscodeSet(of: "owner"))
    }

    // Docs/Security.md: C3b
    @Test func `what a first passcode needs is decided when it is set`() async throws {
        // The finger that had to be shown was removed meanwhile, and none was shown.
        let bench = try await VaultFixture()
        await #expect(throws: ServiceError.self) {
            try await bench.vault.setPasscode(box("1234"), of: "owner", shown: .nothing(of: "owner"))
        }
        // The other way round: the first finger was enrolled since the rules allowed a passcode without one.
        try await bench.enroll(.rightIndex)
        await #expect(throws: ServiceError.self) {
            try await bench.vault.setPasscode(box("1234"), of: "owner")
        }
        #expect(try await !bench.vault.isPasscodeSet(of: "owner"))
    }

    // MARK: - The confirming touch

    /// A second finger is being enrolled, and these are the touches that are to confirm it.
    private func confirm(_ touches: [ScriptedReader.Step], after failures: Int = 0) async throws -> (
        error: ServiceError?, record: AttemptRecord
    ) {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: failures))
        for _ in 0..<(failures + 2) / 3 where failures > 0 {
            _ = await fixture.evaluate(Fixture.request(timeout: .milliseconds(200)))
        }
        let consent = try await fixture.store().agreed(Self.add, "owner")
        let error = try await enroll(fixture, fixture.engine(), consent, touches)
        return (error, try await fixture.record())
    }

    // Docs/Security.md: S10
    @Test func `touches that confirm nothing count with those of evaluations, and lock`() async throws {
        let three = try await confirm([.noMatch, .noMatch, .noMatch])
        #expect(three.error?.code == .inconsistent && three.record.failures == 3)
        let last = try await confirm([.noMatch, .noMatch, .match(1)], after: 3)
        #expect(
            last.error?.code == .biometryLockout && last.record.failures == 5 && last.record.lockouts == 1
        )
        let none = try await confirm([.match(1)], after: 5)
        #expect(none.error?.code == .biometryLockout)
    }

    // Docs/Security.md: S10
    @Test func `a touch of the new finger sets no failures back`() async throws {
        let outcome = try await confirm([.noMatch, .match(1)], after: 2)
        #expect(outcome.error == nil)
        #expect(outcome.record.failures == 3 && !outcome.record.isPending)
    }

    @Test func `a touch of an enrolled finger sets none back either`() async throws {
        let outcome = try await confirm([.match(0)], after: 2)
        #expect(outcome.error == ServiceError(.duplicate, details: [.finger: "right-index-finger"]))
        #expect(outcome.record.failures == 2 && !outcome.record.isPending)
    }
}
