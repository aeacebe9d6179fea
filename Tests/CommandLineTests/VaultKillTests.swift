// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededGenerator
import SoftwareTPM
import Testing

/// The program killed with SIGKILL while it changes fingers, items and the passcode together with a TPM that stays on.
///
/// Half of the kills come by the clock, at any moment of a run; the others between two commands of the TPM, or between a
/// command and its answer, where the database and the chip are most likely to differ.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct VaultKillTests {
    /// The number of kills: 200 each night (`make nightly`), fewer in a run that somebody waits for.
    private static let kills = ProcessInfo.processInfo.environment["WHORL_KILLS"].flatMap(Int.init) ?? 30

    // Docs/Security.md: D8
    /// Two owners at once, so that a second processor is used.
    @Test(arguments: [0, 1])
    func `kills lose nothing that was acknowledged, leave nothing half done, and revive no key`(
        owner: UInt64
    ) async throws {
        let seed = SeededGenerator.seed
        var loop = try await KillLoop(seed: seed, owner: owner)
        while loop.killed < Self.kills / 2 {
            try await loop.step()
            if loop.steps % 15 == 0 { try await loop.look.expectAll(loop.model) }
        }
        try await loop.look.expectAll(loop.model)
        #expect(loop.left > 0, "no kill came while something was loaded: these were the wrong moments")
        #expect(loop.unanswered > Self.kills / 10, "hardly a kill came before the answer")
    }
}

/// One owner, and what happens to them.
private struct KillLoop {
    let session: VaultSession
    let bus: Interposer
    var generator: SeededGenerator
    var model = OwnerModel()
    var trace: String
    var steps = 0
    var killed = 0
    /// Kills that came before the answer.
    var unanswered = 0
    /// Kills that left something loaded in the TPM.
    var left = 0
    /// How long a run of each verb takes, in milliseconds, and how many commands the TPM gets in it.
    private var usual: [String: (time: Double, commands: Int)] = [:]

    init(seed: UInt64, owner: UInt64) async throws {
        session = try VaultSession()
        bus = try Interposer(inFrontOf: session.tpm)
        generator = SeededGenerator(seed: seed &+ owner)
        trace = "WHORL_SEED=\(seed), owner \(owner)"
        self.owner = trace
        // The passcodes that a look finds wrong are not what this is about.
        let tool = ["dictionarylockout", "-s", "-n", "1000", "-t", "1", "-l", "1"]
        #expect(try session.tpm.tool(arguments: tool).status == 0)
        try await session.enroll(OwnerModel.anchor)
    }

    private let owner: String

    var look: OwnerLook { OwnerLook(session: session, trace: trace) }

    /// One command, killed or not, and what has become of it.
    mutating func step() async throws {
        steps += 1
        let command = model.anyCommand(&generator)
        let verb = "\(command)".prefix { $0 != "(" }
        trace = "\(owner), step \(steps): \(command)"
        bus.forget()
        let began = ContinuousClock.now
        let outcome: WhorlProgram.Outcome
        let mayBeKilled = usual[String(verb)] != nil
        if let usual = usual[String(verb)] {
            outcome = try await runAndKill(command, usual)
        } else {
            outcome = try await run(command)
            let time = (ContinuousClock.now - began) / .milliseconds(1)
            usual[String(verb)] = (time, max(1, bus.heard.count))
        }
        bus.decide { _, _ in .pass }
        trace += outcome.status == 0 ? ", not killed" : ", status \(outcome.status)"
        let wasKilled = outcome.wasKilled || outcome.hasLostItsEngine
        #expect(wasKilled || outcome.status == 0, "\(outcome); \(trace)")
        if wasKilled {
            killed += 1
            try bus.settle()
            // There is no resource manager here, which does it in a real machine.
            if try !session.tpm.leaks().isEmpty { left += 1 }
            try session.tpm.flushLeaks()
            // A touch that was killed counts as a failure: a match ends the row, before it becomes a lock.
            let shown = try await session.run(
                ["evaluate", "--reason", "x"],
                reader: "mock:touch \(OwnerModel.anchor)"
            )
            #expect(shown.status == 0, "\(shown); \(trace)")
            // A killed comparison counts as a wrong passcode, as a look does, and a user has ten of them.
            let forgotten = try await session.sh(
                """
                sqlite3 -cmd '.timeout 60000' "$WHORL_STATE_DIR/whorl.sqlite" \
                    "DELETE FROM vault_tries WHERE profile LIKE 'passcodes: %'"
                """
            )
            #expect(forgotten.status == 0, "\(forgotten); \(trace)")
        }
        if mayBeKilled, !wasKilled {
            // The engine may have been killed after its answer, while it closed the TPM.
            try bus.settle()
            try session.tpm.flushLeaks()
        }
        try await settle(command, isAcknowledged: outcome.answer("result") != nil)
    }

    private mutating func runAndKill(
        _ command: OwnerModel.Command,
        _ usual: (time: Double, commands: Int)
    ) async throws -> WhorlProgram.Outcome {
        if Bool.random(using: &generator) {
            let seconds = Double.random(in: 2...usual.time, using: &generator) / 1000
            trace += ", killed after \(seconds) s"
            return try await run(command, killedAfter: seconds)
        }
        let number = Int.random(in: 0..<usual.commands, using: &generator)
        let isDone = Bool.random(using: &generator)
        trace += ", killed \(isDone ? "after" : "before") the TPM's command \(number)"
        bus.decide { index, _ in index == number ? .killSender(commandIsDone: isDone) : .pass }
        return try await run(command)
    }

    private func run(_ command: OwnerModel.Command, killedAfter seconds: Double? = nil) async throws
        -> WhorlProgram.Outcome
    {
        let (arguments, reader, passcodes): (String, String?, [String]) =
            switch command {
            case .enroll(let finger):
                ("enroll \(finger)", "mock:touch \(OwnerModel.anchor),touch \(finger)*6", [])
            case .remove(let finger): ("remove \(finger)", "mock:then=wait,match", [])
            case .add(let name, _):
                (OwnerModel.names[name]?.kind == "key" ? "key create \(name)" : "secret add \(name)", nil, [])
            case .delete(let name):
                (
                    "\(OwnerModel.names[name]?.kind ?? "") delete \(name)", "mock:touch \(OwnerModel.anchor)",
                    []
                )
            case .get(let name):
                (name == "key" ? "key sign key" : "secret get \(name)", "mock:touch \(OwnerModel.anchor)", [])
            case .setPasscode(let new): ("passcode set", "mock:touch \(OwnerModel.anchor)", [new])
            case .changePasscode(let new): ("passcode change", nil, [model.passcode ?? "", new])
            case .removePasscode: ("passcode remove --force", nil, [model.passcode ?? ""])
            case .verifyPasscode: ("passcode verify", nil, [model.passcode ?? ""])
            }
        var line = "exec \"$W\" \(arguments) --json"
        if case .add(let name, let bytes) = command {
            line += " --access \(OwnerModel.names[name]?.opening.rawValue ?? "")"
            try bytes.write(to: URL(filePath: session.whorl.home + "/in"))
        }
        line += " <in"
        if !passcodes.isEmpty {
            line += " --passcode-fd 3 3<pw"
            try Data(passcodes.map { $0 + "\n" }.joined().utf8)
                .write(to: URL(filePath: session.whorl.home + "/pw"))
        }
        return try await session.sh(
            "touch in; " + line,
            reader: reader,
            environment: ["WHORL_TCTI": bus.address],
            killedAfter: seconds
        )
    }

    /// Without an answer it may have happened or not, but wholly, and nothing else may have.
    private mutating func settle(_ command: OwnerModel.Command, isAcknowledged: Bool) async throws {
        let (before, after) = (model, model.after(command))
        if !isAcknowledged { unanswered += 1 }
        switch command {
        case .enroll, .remove:
            let fingers = try await look.fingers()
            model = fingers == after.fingers ? after : before
            #expect(fingers == model.fingers, "\(trace)")
            if let bound = ["set-1", "set-2", "key"].filter({ model.items[$0] != nil })
                .randomElement(using: &generator)
            {
                try await look.expectItem(bound, model)
            }
        case .add(let name, _), .delete(let name):
            let names = try await look.names(OwnerModel.names[name]?.kind ?? "")
            model = names.contains(name) == (after.items[name] != nil) ? after : before
            try await look.expectItem(name, model)
        case .setPasscode(let new), .changePasscode(let new):
            let isNew = try await look.isPasscode(new)
            model = isNew == true ? after : before
            if isNew != true {
                let isOld = try await look.isPasscode(before.passcode ?? new)
                #expect(isOld == before.passcode.map { _ in true }, "\(trace)")
            }
        case .removePasscode:
            let old = before.passcode ?? ""
            let isSet = try await look.isPasscode(old)
            model = isSet == nil ? after : before
            #expect(isSet != false, "\(trace)")
            #expect(
                try await look.names("secret").contains("pass") == (model.items["pass"] != nil),
                "\(trace)"
            )
        case .verifyPasscode: #expect(try await look.isPasscode(before.passcode ?? "") == true, "\(trace)")
        case .get(let name): try await look.expectItem(name, model)
        }
        if isAcknowledged {
            #expect(model.fingers == after.fingers && model.items == after.items, "lost; \(trace)")
        }
        if isAcknowledged { #expect(model.passcode == after.passcode, "lost; \(trace)") }
    }
}
