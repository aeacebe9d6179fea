// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import Testing
import WhorlService

// Docs/Security.md: S19, S33, S34
@Suite struct `An evaluation` {
    @Test func `succeeds with the finger that matched, and closes the reader`() async throws {
        let fixture = try await Fixture.enrolled([.rightIndex, .leftThumb], steps: [.match(1)])
        let presenter = ScriptedPresenter()
        let evaluation = try #require(await fixture.evaluate(presenter: presenter).success)
        // The newest print comes first where none has matched yet.
        #expect(evaluation.finger == .rightIndex)
        #expect(evaluation.method == .biometry)
        #expect(!evaluation.isReused)
        #expect(evaluation.readerKind == .mock)
        let state = try await fixture.store().state(of: "owner", application: "org.example.test")
        #expect(evaluation.domainState == state?.digest)
        #expect(presenter.updates == [.scan(.touch), .matched(.rightIndex)])
        #expect(fixture.reader.counts.opens == 1)
        #expect(fixture.reader.counts.closes == 1)
        #expect(try await fixture.log() == ["evaluation matched"])
    }

    @Test func `asks with the most recently matched print first`() async throws {
        let fixture = try await Fixture.enrolled([.rightIndex, .leftThumb], steps: [.match(1), .match(0)])
        let engine = fixture.engine()
        #expect(await fixture.evaluate(engine: engine).success?.finger == .rightIndex)
        #expect(await fixture.evaluate(engine: engine).success?.finger == .rightIndex)
        let galleries = fixture.reader.counts.galleries
        #expect(galleries.count == 2)
        #expect(galleries[0] == galleries[1].reversed())
    }

    @Test(arguments: ["", "  ", "\n\t", "\u{1B}\u{7}", "\u{200B}\u{2060}"])
    func `without a reason is refused before anything else`(_ reason: String) async throws {
        let fixture = try Fixture()
        #expect(await fixture.evaluate(Fixture.request(reason: reason)).code == .reasonMissing)
        #expect(fixture.reader.counts == ScriptedReader.Counts())
    }

    @Test func `shows a cleaned reason`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let presenter = ScriptedPresenter()
        let reason = "pay\u{1B}[2J 10 €\u{202E}"
        _ = await fixture.evaluate(Fixture.request(reason: reason), presenter: presenter)
        #expect(presenter.prompts.map(\.reason) == ["pay[2J 10 €"])
        let entries = try await AuditLog(database: fixture.database()).entries(limit: 1)
        #expect(entries.map(\.detail) == ["pay[2J 10 €"])
    }

    @Test func `ends after three presentations that do not match`() async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .noMatch, .match(0)])
        let presenter = ScriptedPresenter()
        #expect(await fixture.evaluate(presenter: presenter).code == .authenticationFailed)
        #expect(
            presenter.updates == [
                .scan(.touch), .noMatch(remaining: 2), .scan(.touch), .noMatch(remaining: 1),
                .scan(.touch), .noMatch(remaining: 0),
                .ended(ServiceError(.authenticationFailed).message),
            ]
        )
        #expect(try await fixture.record().failures == 3)
        #expect(fixture.reader.counts.closes == 1)
        #expect(
            try await fixture.log() == [
                "failedTry noMatch", "failedTry noMatch", "failedTry noMatch",
                "evaluation authenticationFailed",
            ]
        )
    }

    @Test func `succeeds after presentations that did not match, and forgets them`() async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .match(0)])
        #expect(await fixture.evaluate().success != nil)
        let record = try await fixture.record()
        #expect(record.failures == 0)
        #expect(record.totalFailures == 2)
        #expect(!record.isPending)
    }

    @Test(arguments: [true, false])
    func `tells each retry once and does not charge it`(_ event: Bool) async throws {
        let fixture = try await Fixture.enrolled(
            [.retry(.tooShort, event: event), .retry(.centerFinger, event: event), .match(0)]
        )
        let presenter = ScriptedPresenter()
        #expect(await fixture.evaluate(presenter: presenter).success != nil)
        #expect(
            presenter.updates == [
                .scan(.touch), .scan(.retry(.tooShort)), .scan(.touch), .scan(.retry(.centerFinger)),
                .scan(.touch), .matched(.rightIndex),
            ]
        )
        #expect(try await fixture.record().totalFailures == 0)
    }

    @Test func `ends when the reader gives only retries`() async throws {
        let storm = Array(repeating: ScriptedReader.Step.retry(.general, event: true), count: 1000)
        let fixture = try await Fixture.enrolled(storm)
        let result = await fixture.evaluate()
        #expect(result.code == .systemCancel)
        #expect(fixture.reader.counts.scans == ScanLoop.retries)
        #expect(fixture.reader.counts.closes == 1)
        let record = try await fixture.record()
        #expect(record.totalFailures == 0)
        #expect(!record.isPending)
    }

    @Test func `ends when no finger comes in time`() async throws {
        let fixture = try await Fixture.enrolled([.retry(.general, event: true), .wait])
        let result = await fixture.evaluate(Fixture.request(timeout: .milliseconds(50)))
        #expect(result == .failure(ServiceError(.timedOut)))
        #expect(fixture.reader.counts.closes == 1)
        #expect(try await !fixture.record().isPending)
    }

    @Test(arguments: [Duration.seconds(-5), .seconds(Int64.max)])
    func `bears any timeout`(_ timeout: Duration) async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let code = await fixture.evaluate(Fixture.request(timeout: timeout)).code
        #expect(code == nil || code == .timedOut)
        #expect(!fixture.reader.isOpen)
    }

    @Test(arguments: [
        (PromptAction.cancel, ServiceError.Code.userCancel),
        (PromptAction.fallback, ServiceError.Code.userFallback),
    ])
    func `ends with the button that was pressed`(
        _ action: PromptAction,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await Fixture.enrolled([.wait])
        #expect(await fixture.evaluate(presenter: .pressing(action)).code == code)
        #expect(!fixture.reader.isOpen)
        #expect(fixture.reader.counts.closes == 1)
        let record = try await fixture.record()
        #expect(record.totalFailures == 0)
        #expect(!record.isPending)
        // The reader is usable at once.
        fixture.reader.add([.match(0)])
        #expect(await fixture.evaluate().success != nil)
    }

    @Test func `goes on when a presenter shows nothing`() async throws {
        struct Mute: PromptPresenter {
            var isInteractive: Bool { false }
            func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { nil }
        }
        let fixture = try await Fixture.enrolled([.noMatch, .match(0)])
        let evaluation = try await fixture.engine().evaluate(Fixture.request(), presenter: Mute())
        #expect(evaluation.finger == .rightIndex)
    }

    @Test func `asks nobody when its program had cancelled before`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await fixture.evaluate()
        }
        task.cancel()
        #expect(await task.value.code == .appCancel)
        #expect(fixture.reader.counts.opens == 0)
    }

    @Test func `ends with appCancel when its program cancels during the scan`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = ScriptedPresenter()
        let task = Task { await fixture.evaluate(presenter: presenter) }
        try await eventually { presenter.updates.contains(.scan(.touch)) }
        task.cancel()
        #expect(await task.value.code == .appCancel)
        #expect(!fixture.reader.isOpen)
        #expect(!presenter.isShown)
        #expect(try await !fixture.record().isPending)
        #expect(try await fixture.log() == ["evaluation appCancel"])
    }

    @Test func `ends with appCancel although the presenter takes its own end for a button`() async throws {
        struct Hasty: PromptPresenter {
            let shown: AsyncStream<Void>.Continuation
            var isInteractive: Bool { true }
            func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
                shown.finish()
                while !Task.isCancelled { await Task.yield() }
                return .cancel
            }
        }
        let fixture = try await Fixture.enrolled([.wait])
        let (shown, signal) = AsyncStream.makeStream(of: Void.self)
        let engine = fixture.engine()
        let task = Task { () async -> ServiceError.Code? in
            do throws(ServiceError) {
                _ = try await engine.evaluate(Fixture.request(), presenter: Hasty(shown: signal))
                return nil
            } catch { return error.code }
        }
        for await _ in shown {}
        task.cancel()
        #expect(await task.value == .appCancel)
    }

    /// What the reader answers at the moment when the program cancels, and what then stands on the bookkeeping.
    @Test(arguments: [
        (ScriptedReader.Step.match(0), ["evaluation appCancel"], 0),
        (ScriptedReader.Step.noMatch, ["failedTry noMatch", "evaluation appCancel"], 1),
    ])
    func `takes no match after a cancellation, and charges a failure`(
        _ answer: ScriptedReader.Step,
        _ log: [String],
        _ failures: Int
    ) async throws {
        let (ready, signal) = AsyncStream.makeStream(of: Void.self)
        let untilCancelled = ScriptedReader.Step.perform {
            signal.finish()
            while !Task.isCancelled { await Task.yield() }
        }
        let fixture = try await Fixture.enrolled([untilCancelled, answer])
        let task = Task { await fixture.evaluate() }
        for await _ in ready {}
        task.cancel()
        #expect(await task.value.code == .appCancel)
        #expect(try await fixture.log() == log)
        let record = try await fixture.record()
        #expect(record.failures == failures)
        #expect(!record.isPending)
        #expect(!fixture.reader.isOpen)
    }

    @Test func `stays a success when it is cancelled afterwards`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let task = Task { await fixture.evaluate() }
        let result = await task.value
        task.cancel()
        #expect(result.success?.finger == .rightIndex)
        #expect(await task.value.success?.finger == .rightIndex)
    }
}

@Suite struct `A reader that fails` {
    @Test(arguments: [
        (ReaderError.Code.unplugged, ServiceError.Code.biometryDisconnected),
        (.malfunction, .readerFailed),
        (.tooHot, .readerTooHot),
        (.busy, .readerInUse),
        (.inUse, .readerInUse),
        // Nobody here cancelled: the system goes to sleep.
        (.cancelled, .systemCancel),
        (.untrustworthy, .readerUntrustworthy),
    ])
    func `ends the evaluation, charges nothing and is closed`(
        _ failure: ReaderError.Code,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await Fixture.enrolled([.failure(failure)])
        #expect(await fixture.evaluate().code == code)
        #expect(fixture.reader.counts.closes == 1)
        let record = try await fixture.record()
        #expect(record.totalFailures == 0)
        #expect(!record.isPending)
    }

    @Test(arguments: [
        (ReaderError.Code.inUse, ServiceError.Code.readerInUse),
        (.permissionDenied, .readerNotPermitted),
        (.unplugged, .biometryDisconnected),
    ])
    func `to open ends the evaluation without a prompt`(
        _ failure: ReaderError.Code,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await Fixture.enrolled([])
        let reader = ScriptedReader([.match(0)], openFailure: failure)
        let presenter = ScriptedPresenter()
        #expect(
            await fixture.evaluate(engine: fixture.engine(reader: reader), presenter: presenter).code == code
        )
        #expect(presenter.prompts.isEmpty)
        #expect(reader.counts.scans == 0)
    }

    @Test func `to close does not spoil a match`() async throws {
        let fixture = try await Fixture.enrolled([])
        let reader = ScriptedReader([.match(0)], closeFailure: .malfunction)
        #expect(await fixture.evaluate(engine: fixture.engine(reader: reader)).success != nil)
    }

    @Test func `by a match with a print that it was not given is never a success, and is logged`()
        async throws
    {
        let fixture = try await Fixture.enrolled([.matchStranger])
        let result = await fixture.evaluate()
        #expect(result.code == .readerUntrustworthy)
        guard case .failure(let error) = result else { return }
        #expect(error.message == ReaderError(.untrustworthy, operation: "").message)
        #expect(
            try await fixture.log() == ["reader untrustworthy", "evaluation readerUntrustworthy"]
        )
        #expect(try await !fixture.record().isPending)
        #expect(fixture.reader.counts.closes == 1)
    }

    @Test func `to find one among many is given the most recently matched print alone`() async throws {
        let fixture = try await Fixture.enrolled(
            [.rightIndex, .leftThumb],
            info: .scripted(features: [.verify]),
            steps: [.match(0), .noMatch, .match(0)]
        )
        #expect(await fixture.evaluate().success?.finger == .leftThumb)
        #expect(await fixture.evaluate().success?.finger == .leftThumb)
        let thumb = Template(bytes: Array(Finger.leftThumb.rawValue.utf8))
        #expect(fixture.reader.counts.verified == [thumb, thumb, thumb])
        #expect(fixture.reader.counts.galleries.isEmpty)
    }
}

@Suite struct `The bookkeeping of a match` {
    @Test func `keep the better template that a reader made`() async throws {
        let better = Template(bytes: [1, 2, 3])
        let fixture = try await Fixture.enrolled([.matchImproving(0, better)])
        let before = try await fixture.store().state(of: "owner", application: "a")
        #expect(await fixture.evaluate().success != nil)
        let id = await fixture.reader.info.id
        // It is written down after the answer.
        try await eventually {
            try await fixture.store().gallery(of: "owner", on: id).map(\.template) == [better]
        }
        #expect(try await fixture.store().state(of: "owner", application: "a") == before)
    }

    @Test func `that cannot be written make it no success`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        try await fixture.execute(
            "CREATE TRIGGER full BEFORE INSERT ON reuse BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        #expect(await fixture.evaluate().code == .storeFailed)
        #expect(fixture.reader.counts.closes == 1)
        // The reservation stays: the next run is charged for it.
        #expect(try await fixture.record().isPending)
    }

    @Test func `that cannot be begun keep the reader from scanning`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        try await fixture.execute(
            "CREATE TRIGGER full BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        #expect(await fixture.evaluate().code == .storeFailed)
        #expect(fixture.reader.counts.scans == 0)
        #expect(fixture.reader.counts.closes == 1)
    }

    @Test func `do not take a match when a finger was added meanwhile`() async throws {
        let fixture = try await Fixture.enrolled([])
        fixture.reader.add([.perform { _ = try? await fixture.enroll(.leftThumb) }, .match(0)])
        let result = await fixture.evaluate()
        #expect(result.code == .systemCancel)
        let record = try await fixture.record()
        #expect(record.totalFailures == 0)
        #expect(!record.isPending)
        #expect(try await fixture.log() == ["evaluation systemCancel"])
        fixture.reader.add([.match(0)])
        #expect(await fixture.evaluate().success?.finger == .leftThumb)
    }

    @Test(arguments: [
        "UPDATE profiles SET manifest_mac = zeroblob(32)", "UPDATE profiles SET epoch = zeroblob(16)",
        "UPDATE prints SET state = 'removing'", "UPDATE prints SET profile = 'other'",
        "PRAGMA foreign_keys = OFF; DELETE FROM prints",
    ])
    func `do not take a match when the set was edited meanwhile`(_ edit: String) async throws {
        let fixture = try await Fixture.enrolled([])
        try await fixture.execute(
            "INSERT INTO profiles (name, generation, manifest_mac, created_at) VALUES ('other', 0, x'', 0)"
        )
        fixture.reader.add([.perform { try? await fixture.execute(edit) }, .match(0)])
        #expect(await fixture.evaluate().code == .systemCancel)
        #expect(try await fixture.log() == ["evaluation systemCancel"])
    }

    @Test func `do not take a match of a print that was removed meanwhile`() async throws {
        let fixture = try await Fixture.enrolled([.rightIndex, .leftThumb], steps: [])
        fixture.reader.add([
            .perform {
                try? await fixture.remove(.leftThumb)
            },
            .match(0),
        ])
        #expect(await fixture.evaluate().code == .systemCancel)
    }
}
