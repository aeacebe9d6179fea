// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlStateStore
import Testing
import WhorlService

@Suite struct `The preflight` {
    private func obstacle(
        _ fixture: Fixture,
        connected: Bool = true,
        _ policy: Policy = .biometrics
    ) async -> ServiceError.Code? {
        await fixture.engine(connected: connected).preflight(policy, for: Fixture.application).obstacle?.code
    }

    @Test func `of a new machine makes nothing on the disk`() async throws {
        let fixture = try Fixture()
        #expect(await obstacle(fixture) == .biometryNotEnrolled)
        #expect(await obstacle(fixture, connected: false) == .biometryNotAvailable)
        #expect(await obstacle(fixture, .deviceOwner) == .passcodeNotSet)
        #expect(await fixture.evaluate().code == .biometryNotEnrolled)
        #expect(try await !fixture.engine().isOptedOut(Fixture.application))
        try await fixture.engine().setOptedOut(false, for: Fixture.application)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).isEmpty)
    }

    @Test func `says yes with an enrolled finger, without opening the reader`() async throws {
        let fixture = try await Fixture.enrolled([])
        let answer = await fixture.engine().preflight(.biometrics, for: Fixture.application)
        #expect(answer.canEvaluate)
        #expect(answer.hasReader)
        #expect(answer.readerKind == .mock)
        #expect(fixture.reader.counts == ScriptedReader.Counts())
        #expect(await obstacle(fixture, .deviceOwner) == nil)
    }

    @Test func `tells a reader that is not connected from one without fingers`() async throws {
        let fixture = try await Fixture.enrolled([])
        #expect(await obstacle(fixture, connected: false) == .biometryDisconnected)
        let other = ScriptedReader([], info: .scripted(id: "scripted-1"))
        let answer = await fixture.engine(reader: other).preflight(.biometrics, for: Fixture.application)
        #expect(answer.obstacle?.code == .biometryDisconnected)
        #expect(answer.hasReader)
        #expect(answer.domainState != nil)
    }

    @Test func `refuses fingers that were changed from outside, whatever else holds`() async throws {
        let fixture = try await Fixture.enrolled([])
        try await fixture.engine().setOptedOut(true, for: Fixture.application)
        try await fixture.execute("UPDATE prints SET finger = 1")
        let answer = await fixture.engine(connected: false).preflight(.biometrics, for: Fixture.application)
        #expect(answer.obstacle?.code == .enrollmentTampered)
        #expect(answer.domainState == nil)
        #expect(await fixture.evaluate().code == .enrollmentTampered)
        #expect(fixture.reader.counts.opens == 0)
    }

    @Test(arguments: ["finger = 7", "finger = 1"])
    func `refuses a template that was changed from outside, on whatever reader it is`(_ which: String)
        async throws
    {
        let fixture = try await Fixture.enrolled([.match(0)])
        try await fixture.enroll(.leftThumb, on: .scripted(id: "scripted-1"))
        #expect(await fixture.evaluate().success != nil)
        try await fixture.execute("UPDATE prints SET template = zeroblob(length(template)) WHERE \(which)")
        #expect(await obstacle(fixture) == .enrollmentTampered)
        let reusing = Fixture.request(reuse: .seconds(60))
        #expect(await fixture.evaluate(reusing).code == .enrollmentTampered)
        #expect(try await fixture.log().last == "evaluation enrollmentTampered")
    }

    @Test func `refuses a store that cannot be read, and names it`() async throws {
        let fixture = try Fixture()
        let file = fixture.directory.path + "/whorl.sqlite"
        try Data("no database".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        let answer = await fixture.engine().preflight(.biometrics, for: Fixture.application)
        #expect(answer.obstacle?.code == .storeDamaged && answer.obstacle?.subject == file)
        #expect(answer.hasReader)
        #expect(await obstacle(fixture, .deviceOwner) == .storeDamaged)
        #expect(await fixture.evaluate().code == .storeDamaged)
    }

    @Test func `knows a reader although it is not clear which`() async throws {
        let fixture = try await Fixture.enrolled([])
        let engine = AuthenticationEngine(
            profile: "owner",
            state: StateAccess(directory: fixture.directory, generations: fixture.generations),
            reader: { () async throws(ServiceError) in throw ServiceError(.readerNotChosen) }
        )
        let answer = await engine.preflight(.biometrics, for: Fixture.application)
        #expect(answer.obstacle?.code == .readerNotChosen)
        #expect(answer.hasReader)
        #expect(await fixture.evaluate(engine: engine).code == .readerNotChosen)
    }
}

@Suite struct `A prompt that cannot be shown` {
    @Test func `ends an evaluation on hardware`() async throws {
        let fixture = try await Fixture.enrolled(
            [.rightIndex],
            info: .scripted(kind: .hardware),
            steps: [.match(0), .match(0)]
        )
        let hidden = ScriptedPresenter(interactive: false)
        #expect(await fixture.evaluate(presenter: hidden).code == .notInteractive)
        #expect(fixture.reader.counts.opens == 0)
        #expect(await fixture.evaluate().success != nil)
    }

    @Test(arguments: [ReaderInfo.Kind.virtual, .mock])
    func `does not matter where no person is needed`(_ kind: ReaderInfo.Kind) async throws {
        let fixture = try await Fixture.enrolled(
            [.rightIndex],
            info: .scripted(kind: kind),
            steps: [.match(0)]
        )
        #expect(await fixture.evaluate(presenter: ScriptedPresenter(interactive: false)).success != nil)
    }

    @Test func `is not shown where the program allows none`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let presenter = ScriptedPresenter()
        let request = Fixture.request(interactionAllowed: false)
        #expect(await fixture.evaluate(request, presenter: presenter).code == .notInteractive)
        #expect(presenter.prompts.isEmpty)
    }
}
