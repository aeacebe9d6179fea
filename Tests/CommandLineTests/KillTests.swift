// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

// Docs/Security.md: A5
/// The program killed with SIGKILL, as a power button, the kernel or an attacker does it.
@Suite struct KillTests {
    private let whorl: WhorlProgram
    /// Never removed, so that a good evaluation is always possible.
    private static let anchor = "right-index-finger"
    private static let others = ["left-thumb", "left-index-finger", "right-thumb"]

    /// The number of kills: 200 each night (`make nightly`), fewer in a run that somebody waits for.
    private static let kills = ProcessInfo.processInfo.environment["WHORL_KILLS"].flatMap(Int.init) ?? 30

    init() throws { whorl = try WhorlProgram() }

    /// What was acknowledged before the kill, and what the killed command may have changed without saying so.
    private struct Model {
        var enrolled: Set<String> = [anchor]
        var tries = 0
        /// How long the last whole evaluation took, in seconds: longer beside other work and under a sanitizer.
        var pace = 0.06
    }

    // Docs/Security.md: A5
    @Test func `kills at any moment lose nothing that was acknowledged, and give no try back`()
        async throws
    {
        try await whorl.enroll(Self.anchor)
        var model = Model()
        var generator = SystemRandomNumberGenerator()
        var killed = 0
        while killed < Self.kills {
            let finger = Self.others[Int.random(in: 0..<Self.others.count, using: &generator)]
            let delay = Double.random(in: 0.003...max(0.06, model.pace), using: &generator)
            let command = Command.allCases[Int.random(in: 0..<Command.allCases.count, using: &generator)]
            let outcome = try await run(command, finger, killAfter: delay)
            if outcome.wasKilled || outcome.hasLostItsEngine { killed += 1 }
            try await check(command, finger, outcome, &model)
        }
    }

    private enum Command: CaseIterable { case enroll, remove, match, noMatch }

    /// The mock waits a little before each press, so that kills fall between the stages as well.
    private func run(
        _ command: Command,
        _ finger: String,
        killAfter seconds: Double
    ) async throws -> WhorlProgram.Outcome {
        let (arguments, script): ([String], String) =
            switch command {
            case .enroll:
                (["enroll", finger], "delay:5ms,touch \(Self.anchor),(delay:5ms,touch \(finger))*6")
            case .remove: (["remove", finger], "then=wait,match")
            case .match: (["evaluate", "--reason", "x"], "delay:10ms,touch \(Self.anchor)")
            case .noMatch: (["evaluate", "--reason", "x"], "(delay:5ms,no-match)*3")
            }
        return try await whorl.run(
            ["--json"] + arguments,
            reader: "mock:" + script,
            killedAfter: seconds
        )
    }

    private func check(
        _ command: Command,
        _ finger: String,
        _ outcome: WhorlProgram.Outcome,
        _ model: inout Model
    ) async throws {
        let list = try await whorl.run(["fingers", "--json"])
        #expect(list.status == 0, "the store opens: \(list)")
        let fingers = try #require(list.answer("result")?["fingers"] as? [[String: Any]])
        let names = Set(fingers.compactMap { $0["finger"] as? String })
        #expect(names.count == fingers.count, "no finger is there twice")

        let acknowledged = outcome.answer("result") != nil
        switch (command, acknowledged) {
        case (.enroll, true): model.enrolled.insert(finger)
        case (.remove, true): model.enrolled.remove(finger)
        case (.enroll, false), (.remove, false):
            // Without an answer it may have happened or not, but to this finger only.
            #expect(names.symmetricDifference(model.enrolled).subtracting([finger]).isEmpty)
            model.enrolled = names
        case (.match, _), (.noMatch, _): break
        }
        #expect(names == model.enrolled, "\(command) \(finger): \(outcome)")

        // A failure that was told is on the disk, and none ever goes away.
        let told = outcome.lines.count { $0.contains("\"noMatch\"") }
        let tries = try await totalFailures()
        #expect(tries >= model.tries + told, "\(command): \(model.tries) + \(told) tries, \(tries) on disk")
        model.tries = tries

        // A finger that is there is there wholly: it matches. It also ends the row of failures.
        let name = names.contains(finger) ? finger : Self.anchor
        let begin = ContinuousClock.now
        let good = try await whorl.run(
            ["evaluate", "--reason", "x", "--json"],
            reader: "mock:touch \(name)"
        )
        model.pace = (ContinuousClock.now - begin) / .seconds(1)
        #expect(good.answer("result")?["finger"] as? String == name, "\(good)")
    }

    /// Read with SQLite's own program, not with ours.
    private func totalFailures() async throws -> Int {
        let outcome = try await whorl.run(
            "/usr/bin/env",
            [
                "sqlite3", "-cmd", ".timeout 5000", whorl.state + "/whorl.sqlite",
                "SELECT sum(total_failures) FROM attempts",
            ]
        )
        return Int(outcome.out.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}
