// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import KeptThings
import SeededGenerator
import SoftwareTPM
import Testing

/// One machine, and the programs that are killed on it one after the other.
struct KeepingLoop {
    private let tpm: SoftwareTPM
    private let bus: Interposer
    private let owner: String
    /// Told with each failure.
    private var trace = ""
    private var generator: SeededGenerator
    private(set) var model: KeepingModel
    private(set) var killed = 0
    /// Kills that came before the answer.
    private(set) var unanswered = 0
    /// Kills that left something loaded in the TPM.
    private(set) var left = 0
    /// The steps with an application password that may still be killed: of five tries for which nothing waits, one is kept for
    /// those that are not killed.
    private var passwordTries = 4
    /// How long each kind of step took the last time, and how many commands the TPM got in it.
    private var usual: [String: (time: Duration, commands: Int)] = [:]

    init(seed: UInt64, owner: UInt64) async throws {
        tpm = try SoftwareTPM()
        bus = try Interposer(inFrontOf: tpm)
        self.owner = "WHORL_SEED=\(seed), owner \(owner)"
        generator = SeededGenerator(seed: seed &+ owner)
        model = KeepingModel(&generator)
        let programs = programs()
        try await programs.prepare()
        await programs.letGo()
    }

    private var directory: String { tpm.directory.path + "/whorl" }

    /// Programs that know what is on the disk now, and nothing of before.
    private func programs() -> Programs { Programs(directory: directory, tpm: bus.address) }

    // MARK: - A program's life

    /// One program from its start to its kill, and what has become of the things.
    mutating func live() async throws {
        let child = try KeepingChild(directory: directory, tpm: bus.address)
        var before = Int.random(in: 0..<3, using: &generator)
        var step = model.anyStep(&generator)
        while before > 0 || usual[step.kind] == nil || (step.hasApplicationPassword && passwordTries == 0) {
            try await finish(step, by: child)
            before -= 1
            step = model.anyStep(&generator)
        }
        trace = "\(owner), kill \(killed): \(step.words)"
        let outcome = try await doom(step, child)
        #expect(child.wasKilled(), "it ended by itself; \(trace)")
        killed += 1
        try bus.settle()
        // There is no resource manager here, which does it in a real machine.
        if try !tpm.leaks().isEmpty { left += 1 }
        try tpm.flushLeaks()
        let programs = programs()
        // A try that was killed counts as failed: a success ends the row, before it becomes a lock or a wait.
        try await programs.show(.finger)
        if case .open(_, let showing) = step, showing != .finger { try await programs.show(.passcode) }
        // An application password that was killed counts as wrong, and no right one gives that back.
        if step.hasApplicationPassword, outcome == nil { passwordTries -= 1 }
        if let outcome {
            #expect(outcome.refusal == nil, "\(outcome); \(trace)")
            model.apply(outcome.made.map(KeepingStep.make) ?? step)
        } else {
            unanswered += 1
            try await settle(step, programs)
        }
        let other = model.kept.keys.sorted().randomElement(using: &generator)
        for name in Set([step.thing?.description, other].compactMap(\.self)) {
            if let kept = model.kept[name] { try await expectOpens(kept, programs) }
        }
        await programs.letGo()
    }

    /// A last program, which nothing kills.
    mutating func end() async throws {
        let child = try KeepingChild(directory: directory, tpm: bus.address)
        for _ in 0..<5 { try await finish(model.anyStep(&generator), by: child) }
        #expect(child.end() == 0, "\(owner)")
        try await expectAll()
    }

    /// A step that is not killed.
    private mutating func finish(_ step: KeepingStep, by child: KeepingChild) async throws {
        trace = "\(owner), after \(killed) kills: \(step.words)"
        bus.forget()
        let began = ContinuousClock.now
        let outcome = try #require(try await child.run(step), "the program ended; \(trace)")
        usual[step.kind] = (ContinuousClock.now - began, max(1, bus.heard.count))
        try #require(outcome.refusal == nil, "\(outcome); \(trace)")
        model.apply(outcome.made.map(KeepingStep.make) ?? step)
    }

    /// A step during which the program is killed, or right after it.
    private mutating func doom(
        _ step: KeepingStep,
        _ child: KeepingChild
    ) async throws -> KeepingStep.Outcome? {
        let (time, commands) = usual[step.kind] ?? (.zero, 1)
        if Bool.random(using: &generator) {
            let delay = time * Double.random(in: 0...1.3, using: &generator)
            trace += ", killed after \(delay)"
            async let outcome = child.run(step)
            try await Task.sleep(for: delay)
            child.kill()
            return try await outcome
        }
        let number = Int.random(in: 0..<commands, using: &generator)
        let isDone = Bool.random(using: &generator)
        trace += ", killed \(isDone ? "after" : "before") the TPM's command \(number)"
        bus.forget()
        bus.decide { index, _ in index == number ? .killSender(commandIsDone: isDone) : .pass }
        let outcome = try await child.run(step)
        // It may have done with fewer commands this time.
        child.kill()
        bus.decide { _, _ in .pass }
        return outcome
    }

    // MARK: - What is left

    /// Without an answer it may have happened or not: what is not there wholly can be made.
    private mutating func settle(_ step: KeepingStep, _ programs: Programs) async throws {
        let program = programs[.fingerFirst]
        switch step {
        case .open: break
        case .make(var thing):
            // The bytes that the program keeps itself went with it.
            if thing.place == .enclaveKey { return }
            if try await !thing.isThere(in: program) { try await thing.make(in: program) }
            model.apply(.make(thing))
        case .delete(let thing):
            if try await !thing.isThere(in: program) { model.apply(step) }
        case .addFinger, .removeFinger:
            let fingers = try await programs.fingers()
            let before = model.fingers
            if fingers != before { model.apply(step) }
            #expect(fingers == model.fingers, "\(before); \(trace)")
        }
        await programs.letGo()
    }

    /// One of those to whom the table opens it gets what it holds.
    private mutating func expectOpens(_ kept: KeepingModel.Kept, _ programs: Programs) async throws {
        try await expectThere(kept, programs)
        guard let opener = model.openers(of: kept).randomElement(using: &generator) else { return }
        let refusal = await kept.thing.refusal(in: programs[opener])
        #expect(refusal == nil, "\(kept.thing.description), \(opener); \(trace)")
        await programs.letGo()
    }

    private func expectThere(_ kept: KeepingModel.Kept, _ programs: Programs) async throws {
        let isThere = try await kept.thing.isThere(in: programs[.fingerFirst])
        #expect(isThere, "\(kept.thing.description) is lost; \(trace)")
        await programs.letGo()
    }

    /// Each thing is there, and opens to somebody of whom the table says so, or does not to somebody else.
    mutating func expectAll() async throws {
        let programs = programs()
        #expect(try await programs.fingers() == model.fingers, "\(trace)")
        for (_, kept) in model.kept.sorted(by: { $0.key < $1.key }) {
            let people = Showing.allCases.filter(kept.thing.opensTo)
            let showing = people.randomElement(using: &generator) ?? .finger
            let refusal = await kept.thing.refusal(in: programs[showing])
            #expect(
                (refusal == nil) == model.openers(of: kept).contains(showing),
                "\(kept.thing.description), \(showing): \(String(describing: refusal)); \(trace)"
            )
            await programs.letGo()
            try await expectThere(kept, programs)
        }
        await programs.letGo()
        #expect(try tpm.leaks().isEmpty, "a program that was not killed left something; \(trace)")
    }
}
