// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import WhorlService

/// Two who ask for a touch of one reader at once.
@Suite(.timeLimit(.minutes(10))) struct `A prompt after another one at the same reader` {
    /// Evaluates while another one has the reader, which it gives up when the evaluation waits.
    private func afterAnother(
        _ fixture: Fixture,
        _ reader: ScriptedReader
    ) async throws -> (Result<Evaluation, ServiceError>, [PromptUpdate]) {
        var other: ReaderTurn? = try await ReaderTurns.take("another", on: reader)
        let presenter = ScriptedPresenter()
        let waiting = Task {
            await fixture.evaluate(engine: fixture.engine(reader: reader), presenter: presenter)
        }
        try await eventually { ReaderTurns.count(at: reader) == 2 }
        #expect(reader.counts.opens == 0)
        withExtendedLifetime(other) {}
        other = nil
        return (await waiting.value, presenter.updates)
    }

    @Test func `of a reader that is being closed is waited for before the reader is tested`() async throws {
        let fixture = try Fixture([.match(0)])
        let reader = fixture.reader
        var other: ReaderTurn? = try await ReaderTurns.take("another", on: reader)
        let run = ExerciseRun(ReaderExercise(), on: reader, timeout: .seconds(1)) { _ in }
        let steps = Task { try await run.run() }
        try await eventually { ReaderTurns.count(at: reader) == 2 }
        #expect(reader.counts.opens == 0)
        withExtendedLifetime(other) {}
        other = nil
        #expect(try await steps.value.first?.failure == nil)
        #expect(ReaderTurns.count(at: reader) == 0)
    }

    // Docs/Security.md: S31
    @Test(arguments: [ScriptedReader.Step.match(0), .noMatch])
    func `takes no touch that was meant for the other, and charges none`(
        _ early: ScriptedReader.Step
    ) async throws {
        let fixture = try await Fixture.enrolled([])
        let reader = ScriptedReader(
            [early, .perform { fixture.clock.advance(.seconds(1)) }, .match(0)],
            info: .scripted(kind: .virtual)
        )
        let (outcome, updates) = try await afterAnother(fixture, reader)
        #expect(outcome.success?.method == .biometry)
        #expect(reader.counts.scans == 2)
        #expect(updates.contains(.scan(.retry(.removeFinger))))
        #expect(!updates.contains { if case .noMatch = $0 { true } else { false } })
    }

    @Test func `does not stay open because a finger stays on it`() async throws {
        let fixture = try await Fixture.enrolled([])
        let reader = ScriptedReader(
            Array(repeating: .match(0), count: ScanLoop.retries),
            info: .scripted(kind: .virtual)
        )
        let (outcome, _) = try await afterAnother(fixture, reader)
        #expect(outcome.code == .systemCancel)
    }
}
