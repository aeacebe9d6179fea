// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Synchronization
import Testing

/// What a shell, a service manager or an attacker starts the program with: streams, limits, bytes that are no text,
/// and things that are no files.
struct SurroundingsTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    /// Runs a line of sh(1) in which `whorl` is the program.
    private func shell(
        _ line: String,
        reader: String? = "mock:then=match",
        onLine: @escaping @Sendable (String, ChildProgram) -> Void = { _, _ in }
    ) async throws -> WhorlProgram.Outcome {
        try await whorl.run(
            "/bin/sh",
            ["-c", line.replacing("whorl ", with: "'\(WhorlProgram.path)' ")],
            reader: reader,
            onLine: onLine
        )
    }

    // MARK: Streams

    /// Runs a line that waits for a finger, looks at the process while it waits, and interrupts it.
    private func look<Seen: Sendable>(
        _ line: String,
        _ look: @escaping @Sendable (_ process: String) -> Seen
    ) async throws -> Seen? {
        let seen = Mutex<Seen?>(nil)
        let outcome = try await shell(line, reader: "mock:hang") { line, process in
            guard line == #"{"event":"touch"}"# else { return }
            seen.withLock { $0 = look("/proc/\(process.processIdentifier)") }
            process.send(SIGINT)
        }
        #expect(outcome.status == 11, "\(outcome)")
        return seen.withLock(\.self)
    }

    @Test func `a closed standard stream is filled, so that nothing else gets its number`() async throws {
        try await whorl.enroll()
        let files = try await look("exec whorl evaluate --reason r --json <&- 2>&-") { process in
            ["0", "2"].map {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)")
            }
        }
        #expect(files == ["/dev/null", "/dev/null"])
    }

    @Test(arguments: ["<&-", ">&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
    func `a command does its work with closed streams, and its words go nowhere`(closed: String) async throws
    {
        let outcome = try await shell("whorl enroll left-thumb \(closed); echo $?")
        let isLost = closed.contains(" >&-") || closed.hasPrefix(">&-")
        #expect(outcome.out.hasSuffix(isLost ? "74\n" : "0\n"), "\(outcome)")
        let fingers = try await whorl.run(["fingers"])
        #expect(fingers.status == 0 && fingers.out.hasPrefix("left-thumb "), "\(fingers)")
    }

    @Test(arguments: [
        "--help", "--version", "enroll --help", "--generate-completion-script bash", "fingers",
        "fingers --json",
        "doctor",
    ])
    func `an answer that cannot be written is an error, whatever the answer is`(command: String) async throws
    {
        let outcome = try await shell("whorl \(command) >/dev/full; echo $?", reader: "mock:match")
        #expect(outcome.out == "74\n")
        #expect(
            outcome.err.hasPrefix(
                "whorl: error: cannot write the output (No space left on device)\nwhorl: hint: "
            )
        )
        #expect(try await shell("whorl \(command) >&-; echo $?").out == "74\n")
    }

    // MARK: Limits

    @Test(arguments: ["fingers", "can-evaluate", "evaluate --reason r", "doctor", "devices", "--version"])
    func `too few files that may be open are an error with a remedy, not a crash`(command: String)
        async throws
    {
        for limit in [5, 8, 16] {
            let outcome = try await shell("ulimit -n \(limit); exec whorl \(command)")
            #expect(outcome.status == 1, "\(limit): \(outcome)")
            #expect(
                outcome.err == """
                    whorl: error: this process may have only \(limit) open files; whorl needs 32 free
                    whorl: hint: raise the limit, for example with `ulimit -n 256`, or close files before starting whorl

                    """
            )
        }
        let json = try await shell("ulimit -n 8; exec whorl fingers --json")
        #expect(json.errorCode == "tooManyOpenFiles")
    }

    @Test func `a low limit that may be raised is raised`() async throws {
        let outcome = try await shell("ulimit -S -n 8; exec whorl enroll left-thumb")
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test func `the program leaves no core file`() async throws {
        try await whorl.enroll()
        let limits = try await look("exec whorl evaluate --reason r --json") {
            (try? String(contentsOfFile: $0 + "/limits", encoding: .utf8)) ?? ""
        }
        #expect(limits?.firstMatch(of: #/Max core file size +0 +0 /#) != nil)
    }

    // MARK: Bytes that are no text

    @Test(arguments: [
        #"whorl fingers --state-dir "$HOME/$(printf '\377')""#,
        #"whorl fingers --profile "$(printf 'a\377')""#,
        #"whorl enroll left-thumb --label "$(printf '\300\200')""#, #"whorl "$(printf '\377')""#,
        #"whorl evaluate --reason "$(printf 'x\355\240\200')""#,
    ])
    func `an argument that is no UTF-8 is refused before anything is done`(line: String) async throws {
        let outcome = try await shell(line)
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.out == "")
        #expect(
            outcome.err.wholeMatch(
                of: /whorl: error: argument \d is not valid UTF-8: “.*”\nwhorl: hint: type it again.*\n/
            ) != nil,
            "\(outcome)"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: whorl.home).isEmpty)
    }

    @Test(arguments: ["WHORL_STATE_DIR", "WHORL_PROFILE", "WHORL_READER", "WHORL_TCTI"])
    func `a variable that is no UTF-8 is refused, unless an option takes its place`(name: String) async throws
    {
        let bad = #"export \#(name)="$HOME/$(printf '\377')"; "#
        let outcome = try await shell(bad + "whorl enroll left-thumb --json")
        #expect(outcome.status == 64 && outcome.errorCode == "usage", "\(outcome)")
        #expect(outcome.out.contains("The variable \(name) is not valid UTF-8"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: whorl.home).isEmpty)
        let given = try await shell(
            bad + "whorl fingers --state-dir \(whorl.state) --profile p --reader mock:match --tcti none"
        )
        #expect(given.status == 0, "\(given)")
    }

    @Test(arguments: [
        ["doctor", "--tcti"], ["doctor", "--json", "--tcti"], ["fingers", "--timeout"],
        ["fingers", "--json", "--timeout"], ["frobnicate"], ["enroll"], ["remove", "--json"],
        ["devices", "exercise", "--skip"], ["fingers", "--reader", "mock:match", "--profile"],
    ])
    func `a long argument with escapes is neither shown whole nor obeyed`(command: [String]) async throws {
        let long = "x\u{1B}[2J" + String(repeating: "A", count: 100_000)
        let outcome = try await whorl.run(command + [long], reader: "mock:match")
        #expect(outcome.out.utf8.count + outcome.err.utf8.count < 4000, "\(outcome)")
        #expect(!(outcome.out + outcome.err).contains("\u{1B}"))
    }

    // MARK: Things that are no files

    /// A pipe that nobody writes to or reads from.
    private func makePipe(_ name: String) throws -> String {
        let path = "\(whorl.home)/\(name)"
        try #require(mkfifo(path, 0o600) == 0)
        return path
    }

    @Test func `a picture to press must be a plain file`() async throws {
        for path in [try makePipe("pipe"), "/dev/zero", "/dev/tty"] {
            let outcome = try await whorl.run(
                WhorlProgram.simulator,
                ["--image", path, "--timeout", "1"],
                environment: ["FP_VIRTUAL_IMAGE": whorl.home + "/nobody"]
            )
            #expect(outcome.status == 1)
            #expect(
                outcome.err.hasPrefix("whorl-simulate: error: The picture cannot be read: "),
                "\(outcome)"
            )
        }
    }

    @Test func `a captured picture replaces no pipe, link or device, and no finger is asked for`()
        async throws
    {
        let link = whorl.home + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        for path in [try makePipe("pipe"), link, "/dev/null"] {
            var (before, after) = (stat(), stat())
            #expect(lstat(path, &before) == 0)
            let outcome = try await whorl.run(["devices", "capture", "--output", path], reader: "mock:hang")
            #expect(outcome.status == 74)
            #expect(
                outcome.err == """
                    whorl: error: cannot write the picture: it is not a regular file
                    whorl: hint: check that the folder exists and that you may write to it

                    """
            )
            #expect(lstat(path, &after) == 0 && before.st_ino == after.st_ino)
        }
    }

    @Test func `a mock's script must be a plain file`() async throws {
        for path in [try makePipe("pipe"), "/dev/zero"] {
            let outcome = try await whorl.run(["devices"], reader: "mock:@\(path)")
            #expect(outcome.status == 64)
            #expect(outcome.err.contains("not a regular file"), "\(outcome)")
        }
    }

    @Test func `a state directory and what is in it must be what they are`() async throws {
        let pipe = try makePipe("pipe")
        let outcome = try await whorl.run(
            ["enroll", "left-thumb", "--state-dir", pipe],
            reader: "mock:then=match"
        )
        #expect(outcome.status == 74)
        #expect(outcome.err.hasPrefix("whorl: error: \(pipe) is not a directory\nwhorl: hint: "))
        try await whorl.enroll()
        for name in ["whorl.sqlite", "state.key"] {
            let path = "\(whorl.state)/\(name)"
            #expect(rename(path, path + ".kept") == 0)
            _ = try makePipe("state/\(name)")
            let refused = try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match")
            #expect(refused.status == 74, "\(refused)")
            #expect(refused.err.contains("\(path) is not a plain file"))
            #expect(rename(path + ".kept", path) == 0)
        }
        #expect(try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
    }
}
