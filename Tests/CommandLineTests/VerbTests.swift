// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

// Docs/Security.md: S15
/// Scripted sessions, with the exact words for people.
struct VerbTests {
    private let whorl: WhorlProgram
    private let note = "whorl: note: a mock reader was used, not a real one\n"
    private let warning = "Test reader: no real fingerprint is read.\n"

    init() throws { whorl = try WhorlProgram() }

    @Test func `devices lists a mock, and says that it is one`() async throws {
        let outcome = try await whorl.run(["devices"], reader: "mock:stages=3,match")
        #expect(
            outcome
                == .init(
                    status: 0,
                    out: "mock-0  Mock reader  press, 3 stages, matches on this computer  mock\n",
                    err: note
                )
        )
    }

    @Test func `devices without a reader is an answer, not an error`() async throws {
        let outcome = try await whorl.run(["devices"], reader: "mock:connected=no,match")
        #expect(outcome == .init(status: 0, out: "No fingerprint reader found.\n", err: ""))
    }

    @Test func `enroll tells each stage, and answers with the finger and its id`() async throws {
        let outcome = try await whorl.run(["enroll", "right-index"], reader: "mock:stages=2,then=match")
        #expect(outcome.status == 0)
        #expect(outcome.out.wholeMatch(of: /right-index-finger [0-9a-f]{32}\n/) != nil)
        #expect(
            outcome.err == """
                Enroll the right index finger (Mock reader)
                Test reader: no real fingerprint is read.
                Touch the reader.
                1 of 2.
                Touch the reader.
                2 of 2.
                Touch once more to confirm.
                Touch the reader.
                Enrolled.
                whorl: note: a mock reader was used, not a real one

                """
        )
    }

    @Test
    func `a guided enrollment asks for parts of the finger, and tells how many test touches were recognized`()
        async throws
    {
        let outcome = try await whorl.run(
            ["enroll", "right-index", "--guided", "--json"],
            reader: "mock:stages=2,match*4,no-match,match"
        )
        let lines = outcome.out.split(separator: "\n").map(String.init)
        #expect(lines.contains(#"{"event":"area","area":"center"}"#), "\(outcome)")
        #expect(lines.contains(#"{"event":"area","area":"tip"}"#))
        #expect(lines.contains(#"{"event":"tested","recognized":2,"tested":3}"#))
        let result = outcome.answer("result")
        #expect(outcome.status == 0 && result?["recognized"] as? Int == 2 && result?["tested"] as? Int == 3)
        let person = try await whorl.run(
            ["enroll", "left-index", "--guided"],
            reader: "mock:stages=2,touch right-index,touch left-index*6"
        )
        #expect(person.err.contains("Touch with the middle of your fingertip."), "\(person)")
        #expect(person.err.contains("Enrolled. 3 of 3 test touches recognized."))
        #expect(person.status == 0)
    }

    @Test func `fingers lists what enroll enrolled, with its label`() async throws {
        #expect(
            try await whorl.run(["fingers"]) == .init(status: 0, out: "No fingers enrolled.\n", err: "")
        )
        _ = try await whorl.run(
            ["enroll", "left-thumb", "--label", "the \u{1B}[31mred one"],
            reader: "mock:then=match"
        )
        let outcome = try await whorl.run(["fingers"])
        #expect(outcome.status == 0 && outcome.err == "")
        let line = /left-thumb  the \[31mred one  Mock reader \(mock-0\)  \d{4}-\d\d-\d\d  [0-9a-f]{32}\n/
        #expect(outcome.out.wholeMatch(of: line) != nil, "\(outcome)")
    }

    @Test func `evaluate with an enrolled finger is 0, and names it`() async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(
            ["evaluate", "--reason", "unlock"],
            reader: "mock:retry:too-short,match"
        )
        #expect(
            outcome
                == .init(
                    status: 0,
                    out: "matched: right-index-finger\n",
                    err:
                        "whorl: unlock\nConfirms your identity. Unlocks nothing.\n\(warning)Touch the reader.\n"
                        + "Too short. Swipe farther.\nTouch the reader.\n"
                        + "Matched: right index finger.\n\(note)"
                )
        )
    }

    @Test func `evaluate with other fingers is 10 after three tries`() async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(["evaluate", "--reason", "unlock"], reader: "mock:then=no-match")
        #expect(outcome.status == 10 && outcome.out == "")
        #expect(outcome.err.contains("Not recognized. 2 tries left.\n"))
        #expect(outcome.err.contains("Not recognized. 1 try left.\n"))
        let error = ServiceError(.authenticationFailed)
        #expect(outcome.err.contains(error.errorLine + error.hintLine))
    }

    @Test func `the fifth failure in a row locks, for the next process too`() async throws {
        try await whorl.enroll()
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:no-match*3").status == 10)
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:no-match*3").status == 17)
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 17)
        let check = try await whorl.run(["can-evaluate"], reader: "mock:match")
        #expect(check.status == 17)
        let doctor = try await whorl.run(["doctor"], reader: "mock:match")
        #expect(doctor.status == 1)
        #expect(
            doctor.out.contains("✗ lockout: Too many touches did not match; fingers are locked out until ")
        )
        // The state of the set is readable under lockout.
        #expect(try await whorl.run(["domain-state"]).status == 0)
    }

    @Test func `can-evaluate says yes only with a finger enrolled`() async throws {
        let before = try await whorl.run(["can-evaluate"], reader: "mock:match")
        let error = ServiceError(.biometryNotEnrolled)
        #expect(
            before
                == .init(
                    status: 16,
                    out: "",
                    err: error.errorLine + error.hintLine + note
                )
        )
        try await whorl.enroll()
        #expect(
            try await whorl.run(["can-evaluate"], reader: "mock:match")
                == .init(status: 0, out: "yes\n", err: note)
        )
        // It never scans: a script that only hangs does not hold it up.
        #expect(try await whorl.run(["can-evaluate"], reader: "mock:hang").status == 0)
    }

    @Test func `domain-state changes when a finger is added, and does not come back`() async throws {
        try await whorl.enroll()
        let first = try await whorl.run(["domain-state"]).out
        #expect(Data(base64Encoded: first.trimmingCharacters(in: .newlines))?.count == 32)
        let since = ["domain-state", "--since", first.trimmingCharacters(in: .newlines)]
        #expect(try await whorl.run(since).out == first + "unchanged\n")

        try await whorl.enroll("left-thumb", reader: "mock:touch right-index-finger,touch left-thumb*6")
        let second = try await whorl.run(["domain-state"]).out
        #expect(second != first)
        #expect(try await whorl.run(since).out == second + "added: left-thumb\n")

        #expect(try await whorl.run(["remove", "left-thumb"], reader: "mock:match").status == 0)
        let third = try await whorl.run(["domain-state"]).out
        #expect(Set([first, second, third]).count == 3)
        #expect(try await whorl.run(since).out == third + "changed, and changed back\n")
    }

    @Test func `remove takes a name, an id, or everything`() async throws {
        let enrolled = try await whorl.enroll()
        let id = String(enrolled.out.split(whereSeparator: \.isWhitespace)[1])
        let removed = try await whorl.run(["remove", id], reader: "mock:match")
        let prompt = """
            whorl: touch an enrolled finger to remove a finger
            Changes the enrolled fingers.
            Test reader: no real fingerprint is read.
            Touch the reader.
            Matched: right index finger.

            """
        #expect(removed == .init(status: 0, out: "removed: right-index-finger \(id)\n", err: prompt + note))
        let error = ServiceError(.noSuchFinger)
        #expect(
            try await whorl.run(["remove", "right-index"], reader: "mock:match")
                == .init(
                    status: 32,
                    out: "",
                    err: error.errorLine + error.hintLine
                )
        )
        try await whorl.enroll("left-thumb", reader: "mock:then=match")
        #expect(
            try await whorl.run(["remove", "--all"], reader: "mock:match").out.hasPrefix(
                "removed: left-thumb "
            )
        )
        #expect(try await whorl.run(["fingers"]).out == "No fingers enrolled.\n")
    }

    @Test func `a denied program gets an answer of its own`() async throws {
        try await whorl.enroll()
        #expect(try await whorl.run(["biometry", "status"]).out == "whorl: allowed\n")
        #expect(try await whorl.run(["biometry", "deny"]).out == "whorl: denied\n")
        let denied = try await whorl.run(["evaluate", "--reason", "r", "--json"], reader: "mock:match")
        #expect(denied.status == 1)
        #expect(denied.errorCode == "biometryOptedOut")
        #expect(
            try await whorl.run(["biometry", "status", "--application", "org.example.other"]).out.hasSuffix(
                "allowed\n"
            )
        )
        #expect(try await whorl.run(["biometry", "allow"]).out == "whorl: allowed\n")
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
    }

    @Test func `log tells what happened, and limits itself`() async throws {
        #expect(try await whorl.run(["log"]).out == "The log is empty.\n")
        try await whorl.enroll()
        _ = try await whorl.run(["evaluate", "--reason", "first"], reader: "mock:match")
        _ = try await whorl.run(["evaluate", "--reason", "sec\u{1B}ond"], reader: "mock:match")
        // With a service, the log has the enrollment as well.
        let evaluations = try await whorl.run(["log"]).lines.filter { $0.contains("evaluation") }
        #expect(evaluations.count == 2)
        #expect(
            evaluations[0].firstMatch(of: /“whorl”  evaluation  matched +right-index-finger  “first”$/) != nil
        )
        let one = try await whorl.run(["log", "--limit", "1"])
        #expect(one.lines.count == 1)
        #expect(one.out.hasSuffix("“second”\n"))
    }

    @Test func `evaluate without interaction succeeds only within the reuse window`() async throws {
        try await whorl.enroll()
        let quiet = ["evaluate", "--reason", "r", "--no-interaction", "--allow-reuse", "300"]
        #expect(try await whorl.run(quiet, reader: "mock:match").status == 20)
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        let reused = try await whorl.run(quiet, reader: "mock:hang")
        #expect(reused.status == 0)
        #expect(reused.out == "matched a moment ago: right-index-finger\n")
    }

    @Test func `exercise runs what the reader supports, and leaves the store alone`() async throws {
        let reader = "mock:storage=reader,stages=2,then=match"
        let outcome = try await whorl.run(["devices", "exercise", "--json"], reader: reader)
        #expect(outcome.status == 0)
        let steps = outcome.answer("result")?["steps"] as? [[String: Any]]
        #expect(
            steps?.compactMap { $0["name"] as? String }
                == ["open", "enroll", "list", "verify", "identify", "delete", "close"]
        )
        #expect(steps?.allSatisfy { $0["ok"] as? Bool == true && $0["seconds"] is Double } == true)
        #expect(!FileManager.default.fileExists(atPath: whorl.state))

        let short = try await whorl.run(
            ["devices", "exercise", "--clear-storage", "--skip", "identify", "--skip", "list", "--json"],
            reader: reader
        )
        let names = (short.answer("result")?["steps"] as? [[String: Any]])?.compactMap {
            $0["name"] as? String
        }
        #expect(names == ["open", "clear-storage", "enroll", "verify", "delete", "close"])
    }

    @Test func `exercise deletes its print and closes although a step failed`() async throws {
        let outcome = try await whorl.run(
            ["devices", "exercise"],
            reader: "mock:storage=reader,stages=1,match,no-match"
        )
        #expect(outcome.status == 1)
        let words = outcome.lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(words == ["✓ open", "✓ enroll", "✓ list", "✗ verify", "✓ delete", "✓ close"])
        #expect(outcome.lines[3].hasSuffix("The finger did not match."))
    }

    @Test func `exercise enrolls a bare print, and names the steps that failed when the reader goes away`()
        async throws
    {
        let chip = "mock:storage=reader,storage-file=\(whorl.home)/chip,stages=1,"
        let outcome = try await whorl.run(["devices", "exercise", "--json"], reader: chip + "match,unplug")
        #expect(outcome.status == 1)
        let steps = outcome.answer("result")?["steps"] as? [[String: Any]]
        let failed = steps?.filter { $0["ok"] as? Bool == false }.compactMap { $0["name"] as? String }
        #expect(failed?.starts(with: ["verify", "delete"]) == true, "\(outcome)")
        // What it could not delete has neither a finger nor an owner written beside it.
        let doctor = try await whorl.run(["doctor"], reader: chip + "match")
        #expect(doctor.lines.contains("– stored prints: 1 unknown: unnamed."), "\(doctor)")
    }

    @Test func `capture writes a picture that only its owner may read`() async throws {
        let file = whorl.home + "/finger.png"
        let outcome = try await whorl.run(["devices", "capture", "--output", file], reader: "mock:match")
        #expect(outcome.status == 0)
        #expect(outcome.out.wholeMatch(of: /\/.*finger\.png: \d+ × \d+ pixels\n/) != nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        let nowhere = try await whorl.run(
            ["devices", "capture", "-o", whorl.home + "/no/f.pgm"],
            reader: "mock:match"
        )
        #expect(nowhere.status == 74)
    }

    @Test func `doctor finds everything in place, and says what is pretended`() async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(["doctor"], reader: "mock:match")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains("✓ reader: 1 connected: Mock reader (mock-0)."))
        #expect(outcome.lines.contains("– test reader: mock-0 is not a real reader (mock)."))
        #expect(outcome.lines.contains("✓ fingers: 1 enrolled: right-index-finger."))
        #expect(
            outcome.lines.contains {
                $0.hasPrefix("– key: The prints are protected by a file that only you can read")
            }
        )
        #expect(outcome.lines.contains { $0.hasPrefix("– TPM: ") })
    }

    @Test func `doctor names prints that another system left in the reader`() async throws {
        let reader = "mock:storage=reader,storage-file=\(whorl.home)/chip,stages=2,then=match"
        let elsewhere = try await whorl.run(
            ["enroll", "left-thumb", "--state-dir", whorl.home + "/other"],
            reader: reader
        )
        #expect(elsewhere.status == 0, "\(elsewhere)")
        let fresh = try await whorl.run(["doctor"], reader: reader)
        #expect(fresh.status == 0)
        #expect(
            fresh.lines.contains { $0.hasPrefix("– stored prints: 1 unknown: left thumb") },
            "\(fresh)"
        )
        // With a finger of our own beside it, too.
        #expect(
            try await whorl.run(["enroll", "right-index"], reader: reader + ",touch right-index*3").status
                == 0
        )
        let mixed = try await whorl.run(["doctor", "--json"], reader: reader)
        let checks = mixed.answer("result")?["checks"] as? [[String: Any]]
        let prints = checks?.first { $0["name"] as? String == "stored-prints" }
        #expect((prints?["detail"] as? String)?.hasPrefix("1 unknown: left thumb") == true)
        #expect(prints?["remedy"] is String)
    }

    @Test func `doctor names enrolled fingers whose reader is not connected`() async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(["doctor"], reader: "mock:id=mock-7,match")
        #expect(outcome.status == 1)
        #expect(
            outcome.lines.contains(
                "✗ fingers elsewhere: 1 of 1 enrolled with a reader that is not connected: Mock reader (mock-0)."
            )
        )
    }

    @Test func `whorl-simulate waits for a reader, and says when there is none`() async throws {
        let outcome = try await whorl.run(
            WhorlProgram.simulator,
            ["7", "--timeout", "0.2"],
            environment: ["FP_VIRTUAL_IMAGE": whorl.home + "/nobody"]
        )
        #expect(outcome.status == 15)
        #expect(outcome.err.hasPrefix("whorl-simulate: error: No virtual reader is open at"), "\(outcome)")
    }

    @Test(arguments: [[], ["7", "--unplug"], ["7", "--press", "-1"], ["--bad", "worse"], ["7"]])
    func `whorl-simulate refuses what makes no sense`(arguments: [String]) async throws {
        let outcome = try await whorl.run(
            WhorlProgram.simulator,
            arguments,
            environment: ["FP_VIRTUAL_IMAGE": arguments == ["7"] ? "" : whorl.home + "/nobody"]
        )
        #expect(outcome.status == 64, "\(outcome)")
    }

    @Test func `doctor names what is wrong, and the command that mends it`() async throws {
        try await whorl.enroll()
        #expect(chmod(whorl.state, 0o755) == 0)
        let open = try await whorl.run(["doctor"], reader: "mock:connected=no,match")
        #expect(open.status == 1)
        #expect(open.lines.contains { $0.hasPrefix("✗ reader: ") })
        #expect(open.lines.contains { $0.hasPrefix("✗ state directory: ") })
        #expect(open.lines.contains { $0.contains("chmod 700 ") })
    }
}
