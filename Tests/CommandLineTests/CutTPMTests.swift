// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededGenerator
import SoftwareTPM
import Testing

/// The TPM goes away in the middle of a command, at each of its commands in turn: a clear error, and when it is back the
/// next call works.
///
/// What becomes of one command of the TPM differs from one to the next, and from seed to seed.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct CutTPMTests {
    enum Cut: CaseIterable {
        /// The power fails before the command.
        case powerBefore
        /// The power fails when the command is done, before its answer is read.
        case powerAfter
        /// The command is done, and its answer is lost; the TPM stays on.
        case answerLost
    }

    /// A command of the program, `whorl` being `$W`.
    struct Verb: Sendable, CustomTestStringConvertible {
        let line: String
        var reader = "mock:then=match"
        /// Before each round.
        var before: String?
        /// After each round, so that the next one finds what this one found.
        var after: String?
        /// How the repeated one ends where the first has done its work, and only its answer was lost.
        var statusWhenDone: Int32?
        /// It begins with a directory of its own.
        var isInNewDirectory = false
        /// The commands that open the directory are the same for each verb, so most go without them.
        var isCutFromTheBeginning = false

        var testDescription: String { line }
    }

    static let verbs = [
        Verb(
            line: "\"$W\" secret add s --access biometry-current-set <in",
            after: "\"$W\" secret delete s",
            statusWhenDone: 34
        ),
        Verb(line: "\"$W\" secret get kept", isCutFromTheBeginning: true),
        Verb(
            line: "\"$W\" secret delete s",
            before: "\"$W\" secret add s --access none <in",
            statusWhenDone: 32,
            isCutFromTheBeginning: true
        ),
        Verb(
            line: "\"$W\" key create k --access biometry-any",
            after: "\"$W\" key delete k",
            statusWhenDone: 34
        ),
        Verb(line: "\"$W\" key sign kept <in"),
        Verb(
            line: "\"$W\" passcode set --profile other --passcode-fd 3 3<pw",
            after: "\"$W\" passcode remove --profile other --passcode-fd 3 3<pw",
            statusWhenDone: 34
        ),
        Verb(line: "\"$W\" passcode change --passcode-fd 3 3<pw"),
        Verb(line: "\"$W\" passcode verify --passcode-fd 3 3<pw"),
        Verb(
            line: "\"$W\" vault provision",
            before: "WHORL_TCTI=none \"$W\" enroll right-index-finger",
            after: "\"$W\" evaluate --reason x && \"$W\" vault reset --force",
            isInNewDirectory: true,
            isCutFromTheBeginning: true
        ),
        Verb(
            line: "\"$W\" enroll right-index-finger",
            after: "\"$W\" evaluate --reason x && \"$W\" vault reset --force",
            statusWhenDone: 34,
            isInNewDirectory: true,
            isCutFromTheBeginning: true
        ),
        Verb(
            line: "\"$W\" enroll left-thumb",
            reader: "mock:touch right-index-finger,touch left-thumb*6",
            after: "\"$W\" remove left-thumb",
            statusWhenDone: 34
        ),
        Verb(
            line: "\"$W\" remove left-thumb",
            before:
                "WHORL_READER='mock:touch right-index-finger,touch left-thumb*6' \"$W\" enroll left-thumb",
            statusWhenDone: 32
        ),
        Verb(line: "\"$W\" evaluate --reason x", isCutFromTheBeginning: true),
    ]

    @Test(arguments: verbs)
    func `cut at any of its TPM's commands, it fails clearly, and works when the TPM is back`(
        verb: Verb
    ) async throws {
        let bench = try await Bench(verb)
        let opening = try await bench.commandsOfOpening()
        var number = verb.isCutFromTheBeginning ? 0 : opening
        var failures = 0
        while true {
            let cuts = Cut.allCases
            let cut = cuts[Int((SeededGenerator.seed &+ UInt64(number)) % UInt64(cuts.count))]
            let round = try await bench.round(cut, at: number)
            if !round.wasCut { break }
            if round.failed { failures += 1 }
            number += 1
            try #require(number < 80, "the cuts never came to an end")
        }
        #expect(failures > 0, "no cut was noticed")
        // What was there before is there, and still opens.
        #expect(
            try await bench.session.run(["secret", "get", "kept"], reader: "mock:match").out == "treasure"
        )
    }

    private struct Bench {
        let verb: Verb
        let session: VaultSession
        let bus: Interposer

        init(_ verb: Verb) async throws {
            self.verb = verb
            session = try VaultSession()
            bus = try Interposer(inFrontOf: session.tpm)
            // A power cut in the middle of a passcode's use may count as a wrong one.
            let settings = ["dictionarylockout", "-s", "-n", "1000", "-t", "1", "-l", "1"]
            #expect(try session.tpm.tool(arguments: settings).status == 0)
            try Data("1234\n1234\n".utf8).write(to: URL(filePath: session.whorl.home + "/pw"))
            try Data("in".utf8).write(to: URL(filePath: session.whorl.home + "/in"))
            for line in [
                "passcode set --passcode-fd 3 3<pw", "key create kept --access biometry-any",
            ] {
                let made = try await session.sh("\"$W\" \(line)")
                #expect(made.status == 0, "\(made)")
            }
            try await session.enroll(by: .passcode("1234"))
            try await session.add("kept", "treasure", access: "biometry-any")
        }

        /// How many commands the TPM gets before any verb begins its own work.
        func commandsOfOpening() async throws -> Int {
            bus.forget()
            let list = try await session.run(["log"], environment: ["WHORL_TCTI": bus.address])
            #expect(list.status == 0, "\(list)")
            return bus.heard.count
        }

        /// One run that is cut at one command, and one that is not.
        func round(_ cut: Cut, at number: Int) async throws -> (wasCut: Bool, failed: Bool) {
            let trace = "WHORL_SEED=\(SeededGenerator.seed): \(cut) at \(number) of \(verb.line)"
            let directory = verb.isInNewDirectory ? "/\(UUID())" : "/state"
            var environment = ["WHORL_STATE_DIR": session.whorl.home + directory]
            try await expectSuccess(verb.before, environment, trace)
            let tpm = session.tpm
            bus.forget()
            bus.decide { index, _ in
                guard index == number else { return .pass }
                switch cut {
                case .powerBefore:
                    tpm.kill()
                    return .cut
                case .powerAfter: return .cutAnswerAfter { tpm.kill() }
                case .answerLost: return .cutAnswer
                }
            }
            let bypass = environment
            environment["WHORL_TCTI"] = bus.address
            let first = try await session.sh(
                verb.line + " --json",
                reader: verb.reader,
                environment: environment
            )
            let wasCut = bus.heard.count > number
            bus.decide { _, _ in .pass }
            if wasCut, cut != .answerLost { try tpm.restart(keepingState: true) }
            if first.status != 0 {
                #expect(wasCut, "\(trace): \(first)")
                expectClear(first, trace)
            }
            // Where everything but the tidying up was done before the cut, it has succeeded.
            if first.status == 0 { #expect(first.answer("result") != nil, "\(trace): \(first)") }

            if wasCut {
                let second = try await session.sh(verb.line, reader: verb.reader, environment: bypass)
                #expect(
                    second.status == 0 || second.status == verb.statusWhenDone,
                    "\(trace): \(first); then \(second)"
                )
            }
            try await expectSuccess(verb.after, bypass, trace)
            // Without a resource manager nobody else flushes what a lost answer has left.
            try tpm.flushLeaks()
            return (wasCut, first.status != 0)
        }

        private func expectClear(_ outcome: WhorlProgram.Outcome, _ trace: String) {
            let isKnown =
                switch outcome.errorCode {
                case "chipBusy", "noChip", "chipUnavailable": outcome.status == 31
                default: false
                }
            #expect(isKnown, "\(trace): \(outcome)")
            for part in ["message", "recovery"] {
                #expect((outcome.answer("error")?[part] as? String)?.isEmpty == false, "\(trace): \(outcome)")
            }
        }

        private func expectSuccess(_ line: String?, _ environment: [String: String], _ trace: String)
            async throws
        {
            guard let line else { return }
            let outcome = try await session.sh(line, reader: "mock:then=match", environment: environment)
            #expect(outcome.status == 0, "\(trace): \(line): \(outcome)")
        }
    }
}
