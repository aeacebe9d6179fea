// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlEngine
import WhorlFingerprint
import WhorlService

/// A reader that can no longer be touched while a prompt waits, such as under a lid that is shut.
@Suite(.timeLimit(.minutes(10))) struct `A reader that gets out of reach` {
    private static let shut = ServiceError(.lidShut)

    /// An obstacle that comes when the reader waits for a finger.
    private func obstacle(to fixture: Fixture) -> ReaderObstacle {
        { _ in
            try? await eventually { fixture.reader.counts.scans == 1 }
            return Self.shut
        }
    }

    @Test func `ends the touch with the reason, is let go, and costs no try`() async throws {
        let fixture = try await Fixture.enrolled([.wait, .match(0)])
        let outcome = await fixture.evaluate(engine: fixture.engine(obstacle: obstacle(to: fixture)))
        #expect(outcome.error == Self.shut)
        try await eventually { !fixture.reader.isOpen }
        #expect(try await fixture.record().failures == 0)
        #expect(await fixture.evaluate().success?.finger == .rightIndex)
    }

    @Test func `leaves the prompt to the passcode`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.type("1234")] } else { [] }
        }
        let engine = fixture.engine(passcode: MemoryPasscode(), obstacle: obstacle(to: fixture))
        #expect(await fixture.answer(presenter, engine: engine).success?.method == .passcode)
        #expect(presenter.updates.contains(.fingerEnded(Self.shut.message)))
    }

    @Test func `takes nothing from a touch that came before`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let engine = fixture.engine(obstacle: { _ in
            try? await eventually { !fixture.reader.isOpen }
            return Self.shut
        })
        #expect(await fixture.evaluate(engine: engine).success?.finger == .rightIndex)
    }
}
