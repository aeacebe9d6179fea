// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Testing

/// Signals, and what reaches a terminal.
struct TerminalTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    /// Runs a command that waits for a finger, and sends it a signal at its first touch.
    private func interrupt(_ arguments: [String], _ signal: Int32) async throws -> WhorlProgram.Outcome {
        try await whorl.run(arguments + ["--json"], reader: "mock:hang") { line, process in
            if line == #"{"event":"touch"}"# { kill(process.processIdentifier, signal) }
        }
    }

    @Test(arguments: [
        (SIGINT, 11, "userCancel"), (SIGQUIT, 11, "userCancel"), (SIGTERM, 13, "systemCancel"),
        (SIGHUP, 13, "systemCancel"),
    ])
    func `a signal ends an evaluation as a cancel`(signal: Int32, status: Int32, code: String) async throws {
        try await whorl.enroll()
        let outcome = try await interrupt(["evaluate", "--reason", "r"], signal)
        #expect(outcome.status == status)
        #expect(outcome.errorCode == code)
        // No try was charged, and the next process works at once.
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
    }

    @Test(arguments: [
        ["enroll", "left-thumb"], ["devices", "exercise"], ["devices", "capture", "--output", "x.pgm"],
    ])
    func `SIGINT ends what else waits for a finger, and nothing is left`(arguments: [String]) async throws {
        let outcome = try await interrupt(arguments, SIGINT)
        #expect(outcome.status == 11)
        #expect(outcome.errorCode == "userCancel")
        #expect(try await whorl.run(["fingers"]).out == "No fingers enrolled.\n")
        #expect(!FileManager.default.fileExists(atPath: whorl.home + "/x.png"))
    }

    @Test(arguments: [["evaluate", "--reason", "r"], ["enroll", "left-thumb"], ["devices", "exercise"]])
    func `without a finger the time runs out`(arguments: [String]) async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(arguments + ["--timeout", "0.2"], reader: "mock:hang")
        #expect(outcome.status == 13, "\(outcome)")
    }

    @Test func `a trial for which no finger comes reports the failed step`() async throws {
        let outcome = try await whorl.run(["devices", "exercise", "--timeout", "0.2"], reader: "mock:hang")
        #expect(outcome.status == 1, "\(outcome)")
        let words = outcome.lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(words == ["✓ open", "✗ enroll", "✓ close"], "\(outcome)")
    }

    @Test func `nothing but text goes to a pipe`() async throws {
        let reader = "mock:name=Read\u{1B}[31mer,stages=2,then=match"
        for arguments in [
            ["devices"], ["enroll", "right-index"],
            ["evaluate", "--reason", "a\u{1B}]0;b\u{07}\u{9B}2Jc\rd"], ["fingers"],
            ["doctor"], ["log"], ["devices", "exercise"],
        ] {
            let outcome = try await whorl.run(arguments, reader: reader)
            #expect(outcome.status == 0, "\(arguments): \(outcome)")
            let acting = (outcome.out + outcome.err).unicodeScalars.filter {
                $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
            }
            #expect(acting.isEmpty, "\(arguments): \(outcome)")
        }
    }

    /// Runs a command line on a terminal of its own (script(1)); the keys are pressed when a finger is waited for.
    private func onTerminal(
        _ command: String,
        keys: String = "",
        _ environment: [String: String] = [:]
    ) async throws -> String {
        // The first line of `seen` holds the command, and so the word "status" alone. An end of the keys right after Escape would
        // be taken for a key with Alt.
        let person = """
            await() { for _ in $(seq 3000); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            await "Touch the reader"; printf "\(keys)"; await "status [0-9]"
            """
        let whole = keys.isEmpty ? "" : "{ \(person); } | "
        return try await whorl.run(
            "/bin/sh",
            ["-c", "\(whole)script -qefc '\(command)' seen"],
            environment: environment
        ).out
    }

    @Test func `on a terminal the prompt draws itself again, in colors`() async throws {
        try await whorl.enroll()
        let seen = try await onTerminal(
            "\(WhorlProgram.path) evaluate --reason here --reader mock:retry:too-fast,match"
        )
        #expect(seen.contains("\u{1B}[1mwhorl\u{1B}[0m"))
        #expect(seen.contains("\u{1B}[6A\u{1B}[2K"))
        #expect(seen.contains("\u{1B}[32m✓\u{1B}[0m Matched: right index finger."))
    }

    @Test func `a terminal gets a note once a day, with --verbose each time, and anything else each time`()
        async throws
    {
        try await whorl.enroll()
        let note = "a mock reader was used, not a real one"
        let command = "\(WhorlProgram.path) can-evaluate --reader mock:match"
        let twice = try await onTerminal("\(command); \(command)")
        #expect(twice.components(separatedBy: note).count == 2, "\(twice)")
        let verbose = try await onTerminal("\(command); \(command) --verbose")
        #expect(verbose.components(separatedBy: note).count == 3, "\(verbose)")
        let nowhere = try await onTerminal("unset XDG_RUNTIME_DIR; \(command); \(command)")
        #expect(nowhere.components(separatedBy: note).count == 3, "\(nowhere)")
        let yesterday = "touch -d \"25 hours ago\" $XDG_RUNTIME_DIR/whorl-notes/*"
        let nextDay = try await onTerminal("\(command); \(yesterday); \(command)")
        #expect(nextDay.components(separatedBy: note).count == 3, "\(nextDay)")
        for _ in 0..<2 {
            let piped = try await whorl.run(["can-evaluate"], reader: "mock:match")
            #expect(piped.err.contains(note), "\(piped)")
        }
    }

    @Test func `NO_COLOR takes the colors away, and a dumb terminal gets lines`() async throws {
        try await whorl.enroll()
        let command = "\(WhorlProgram.path) evaluate --reason here --reader mock:match"
        let gray = try await onTerminal(command, ["NO_COLOR": "1"])
        #expect(gray.contains("\u{1B}[2K"))
        #expect(!gray.contains("m✓") && gray.contains("✓ Matched: right index finger."))
        #expect(gray.firstMatch(of: /\u{1B}\[[0-9;]*m/) == nil)
        let dumb = try await onTerminal(command, ["TERM": "dumb"])
        #expect(!dumb.contains("\u{1B}"))
        #expect(dumb.contains("Touch the reader.\r\nMatched: right index finger.\r\n"))
    }

    @Test(arguments: [("\\033", 11), ("\\t", 12), ("\\003", 11), ("\\034", 11)])
    func `keys end the prompt, and the terminal is as it was`(keys: String, status: Int) async throws {
        try await whorl.enroll()
        let seen = try await onTerminal(
            "trap : INT QUIT; stty -g; \(WhorlProgram.path) evaluate --reason here --reader mock:hang; echo status $?; stty -g",
            keys: keys
        )
        #expect(seen.contains("status \(status)\r\n"), "\(seen)")
        let settings = seen.split(whereSeparator: \.isNewline).filter {
            $0.wholeMatch(of: /[0-9a-f]+(:[0-9a-f]+)+/) != nil
        }
        #expect(settings.count == 2 && settings.first == settings.last)
    }

    @Test(arguments: ["", "bg; sleep 0.5; "])
    func `a stopped prompt gives the terminal back, and is drawn again where it goes on`(detour: String)
        async throws
    {
        try await whorl.enroll()
        // A person at a shell with job control: ^Z, then `fg` (after a while in the background), then Escape.
        let person = """
            seen() { for _ in $(seq 3000); do [ "$(grep -ac "$1" seen)" -ge "$2" ] && return; sleep 0.02; done; }
            seen "Touch the reader" 1; printf "\\032"; seen "resumes" 1
            seen "Touch the reader" 2; printf "\\033"; seen "status [0-9]" 1
            """
        let shell = """
            set -m; stty -g; $W evaluate --reason here --reader mock:hang; echo stopped $?; stty -g
            \(detour)echo resumes; fg; echo status $?; stty -g
            """
        try Data(shell.utf8).write(to: URL(filePath: whorl.home + "/shell"))
        let outcome = try await whorl.run(
            "/bin/sh",
            ["-c", "{ \(person); } | script -qefc 'bash shell' seen"],
            environment: ["W": WhorlProgram.path]
        )
        #expect(outcome.out.contains("stopped 148\r\n"), "\(outcome)")
        #expect(outcome.out.contains("status 11\r\n"), "\(outcome)")
        let settings = outcome.out.split(whereSeparator: \.isNewline).filter {
            $0.wholeMatch(of: /[0-9a-f]+(:[0-9a-f]+)+/) != nil
        }
        #expect(settings.count == 3 && Set(settings).count == 1, "\(settings)")
        // Drawn anew below the shell's words, not over them.
        let again = outcome.out.components(separatedBy: "resumes\r\n").last ?? ""
        let head = again.components(separatedBy: "[1mwhorl")[0]
        #expect(again.contains("Touch the reader") && !head.contains("A\u{1B}[2K"), "\(outcome)")
    }
}
