// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Testing
import WhorlService

/// The machine's sleep, or the end of the service, in the middle of evaluations.
@Suite(.timeLimit(.minutes(10))) struct `An evaluation that is interrupted` {
    private let patience = Duration.seconds(30)

    // Docs/Security.md: S30
    @Test(arguments: Interruption.allCases)
    func `ends with the reason, has let the reader go, and costs no try`(
        _ interruption: Interruption
    ) async throws {
        let fixture = try await Fixture.enrolled([.wait, .match(0)])
        let interruptions = Interruptions()
        let engine = fixture.engine(interruptions: interruptions)
        let waiting = Task { await fixture.evaluate(engine: engine) }
        try await eventually { fixture.reader.counts.scans == 1 }
        await interruptions.begin(interruption, patience: patience)
        let error = try #require(await waiting.value.error)
        #expect(error == interruption.error)
        #expect(error.code == (interruption == .lock ? .notInteractive : .systemCancel))
        try await eventually { !fixture.reader.isOpen }
        #expect(try await fixture.log().last?.contains(error.code.rawValue) == true)
        interruptions.end(interruption)
        #expect(await fixture.evaluate(engine: engine).success?.isReused == false)
    }

    @Test func `also where a passcode is typed`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let interruptions = Interruptions()
        let engine = fixture.engine(passcode: MemoryPasscode(), interruptions: interruptions)
        let presenter = TypingPresenter()
        let waiting = Task {
            do throws(ServiceError) {
                _ = try await engine.evaluate(Fixture.request(.deviceOwner), presenter: presenter)
                return nil as ServiceError?
            } catch {
                return error
            }
        }
        try await eventually { presenter.isShown && fixture.reader.counts.scans == 1 }
        await interruptions.begin(.sleep, patience: patience)
        #expect(await waiting.value == Interruption.sleep.error)
        #expect(!presenter.isShown)
    }

    @Test func `refuses the next ones until it is over, without asking the reader`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let interruptions = Interruptions()
        await interruptions.begin(.sleep, patience: patience)
        let engine = fixture.engine(interruptions: interruptions)
        #expect(await fixture.evaluate(engine: engine).error == Interruption.sleep.error)
        #expect(fixture.reader.counts.opens == 0)
        // One of two that are present is not enough.
        await interruptions.begin(.ending, patience: patience)
        interruptions.end(.sleep)
        #expect(await fixture.evaluate(engine: engine).error == Interruption.ending.error)
        interruptions.end(.ending)
        #expect(await fixture.evaluate(engine: engine).success != nil)
    }

    @Test func `stays a success, or a failure with its own reason, where that came first`() async throws {
        let interruptions = Interruptions()
        let fixture = try await Fixture.enrolled([
            .match(0), .noMatch, .noMatch, .noMatch,
        ])
        let engine = fixture.engine(interruptions: interruptions)
        let matched = await fixture.evaluate(engine: engine)
        let failed = await fixture.evaluate(engine: engine)
        await interruptions.begin(.sleep, patience: patience)
        #expect(matched.success != nil)
        #expect(failed.code == .authenticationFailed)
    }

    @Test func `says so also where a part that was cancelled has another error, and keeps a verdict`() async {
        let interruptions = Interruptions()
        for code in ServiceError.Code.allCases {
            let (begins, begun) = AsyncStream.makeStream(of: Void.self)
            let running = Task {
                do throws(ServiceError) {
                    try await interruptions.run { _ async throws(ServiceError) in
                        begun.finish()
                        while !Task.isCancelled { await Task.yield() }
                        throw ServiceError(code)
                    }
                    return nil as ServiceError?
                } catch {
                    return error
                }
            }
            for await _ in begins {}
            await interruptions.begin(.ending, patience: patience)
            let error = await running.value
            let isVerdict =
                code.category == .notAuthenticated || code == .userCancel || code == .userFallback
            #expect(error == (isVerdict ? ServiceError(code) : Interruption.ending.error))
            interruptions.end(.ending)
        }
    }

    // Docs/Security.md: S30
    @Test func `lets no finger count that comes after it`() async throws {
        let interruptions = Interruptions()
        let fixture = try await Fixture.enrolled([])
        let patience = patience
        // The machine begins to sleep while the finger lies on the sensor, and the driver reports a match all the same.
        fixture.reader.add([
            .perform {
                Task { await interruptions.begin(.sleep, patience: patience) }
                try? await eventually { Task.isCancelled }
            },
            .match(0),
        ])
        let outcome = await fixture.evaluate(engine: fixture.engine(interruptions: interruptions))
        #expect(outcome.error == Interruption.sleep.error)
    }

    @Test func `does not keep the machine awake where a driver does not end`() async throws {
        let interruptions = Interruptions()
        let (door, opening) = AsyncStream.makeStream(of: Void.self)
        // A task of its own, which a cancellation does not end.
        let driver = Task { for await _ in door {} }
        let fixture = try await Fixture.enrolled([.perform { await driver.value }, .match(0)])
        let waiting = Task {
            await fixture.evaluate(engine: fixture.engine(interruptions: interruptions))
        }
        try await eventually { fixture.reader.counts.scans == 1 }
        await interruptions.begin(.sleep, patience: .milliseconds(50))
        #expect(fixture.reader.isOpen)
        opening.finish()
        #expect(await waiting.value.error == Interruption.sleep.error)
    }
}
