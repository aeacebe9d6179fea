// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@testable import whorl

/// What people and machines do wrong: each is a clear error, and nothing is lost.
struct BadInputTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    @Test(arguments: [
        (
            ["enroll", "rigth-index"], "unknown finger “rigth-index”",
            "did you mean right-index-finger?"
        ),
        (["remove", "left-tumb"], "unknown finger “left-tumb”", "did you mean left-thumb?"),
        (
            ["enroll", "xyzzy"], "unknown finger “xyzzy”",
            "use a name such as right-index-finger or left-thumb; `whorl help enroll` lists them"
        ),
        (
            ["evaluate", "--reason", ""], Console.phrase(ServiceError(.reasonMissing).message),
            Console.phrase(ServiceError(.reasonMissing).recovery)
        ),
        (
            ["evaluate", "--reason", " \u{200B}\t"], Console.phrase(ServiceError(.reasonMissing).message),
            Console.phrase(ServiceError(.reasonMissing).recovery)
        ),
        (
            ["evaluate"], "missing expected argument '--reason <text>'",
            "`whorl evaluate --help` shows its arguments and options"
        ),
        (
            ["domain-state", "--since", "AAAA"], "invalid digest in --since",
            "use a value printed by `whorl domain-state`: 44 characters of Base64"
        ),
        (["frobnicate"], "unknown command “frobnicate”", "`whorl --help` lists the commands"),
        (
            ["--timeout", "5", "devices", "frobnicate"], "unknown command “frobnicate”",
            "`whorl devices --help` lists the commands"
        ),
        (
            ["fingers", "--timeout", "0"], "--timeout must be more than 0 and at most 86400 seconds",
            "`whorl fingers --help` shows its arguments and options"
        ),
        (
            ["fingers", "--timeout", "nan"], "--timeout must be more than 0 and at most 86400 seconds",
            "`whorl fingers --help` shows its arguments and options"
        ),
        (
            ["fingers", "--profile", ""], "--profile must not be empty",
            "`whorl fingers --help` shows its arguments and options"
        ),
        (
            ["fingers", "--profile", String(repeating: "x", count: 101)],
            "--profile must not be longer than 100 characters",
            "`whorl fingers --help` shows its arguments and options"
        ),
        (
            ["devices", "exercise", "--skip", "delete"], "unknown step “delete”",
            "the steps are list, verify, identify"
        ),
        (["remove"], "specify a finger, an ID, or --all", "`whorl fingers` lists the enrolled fingers"),
    ])
    func `a command that makes no sense is 64, with what to do`(
        arguments: [String],
        error: String,
        hint: String
    ) async throws {
        let outcome = try await whorl.run(arguments, reader: "mock:hang")
        #expect(
            outcome == .init(status: 64, out: "", err: "whorl: error: \(error)\nwhorl: hint: \(hint)\n")
        )
        #expect(!FileManager.default.fileExists(atPath: whorl.state))
    }

    @Test func `a profile from the environment is checked too`() async throws {
        let outcome = try await whorl.run(["fingers"], environment: ["WHORL_PROFILE": "a\u{1B}b"])
        #expect(outcome.status == 64)
        #expect(outcome.err.hasPrefix("whorl: error: WHORL_PROFILE must not contain control characters\n"))
    }

    @Test(
        arguments: [
            ("mock:connected=no,match", 21), ("mock:busy", 35), ("mock:permission-denied", 15),
            ("mock:unplug", 21), ("mock:malfunction", 15), ("mock:lie:index", 15), ("mock:lie:stranger", 15),
            ("mock:then=no-match", 10), ("mock:mtach", 64), ("other-1", 64),
        ] as [(String, Int32)]
    )
    func `a reader that fails while scanning says how`(reader: String, status: Int32) async throws {
        try await whorl.enroll()
        let state = try await whorl.run(["domain-state"]).out
        let outcome = try await whorl.run(["evaluate", "--reason", "r"], reader: reader)
        #expect(outcome.status == status, "\(outcome)")
        #expect(outcome.out == "")
        #expect(outcome.err.contains("whorl: error: ") && outcome.err.contains("\nwhorl: hint: "))
        #expect(try await whorl.run(["domain-state"]).out == state)
    }

    @Test(
        arguments: [
            ("mock:connected=no,match", 15), ("mock:busy", 35), ("mock:match*2,unplug", 21),
            ("mock:match,malfunction", 15), ("mock:storage=reader,storage-full", 15), ("mock:duplicate", 34),
            ("mock:then=wait,retry:general*200", 1), ("mock:too-hot", 15), ("mock:match*5,lie:index", 15),
        ] as [(String, Int32)]
    )
    func `a reader that fails while enrolling leaves nothing`(reader: String, status: Int32) async throws {
        let outcome = try await whorl.run(["enroll", "right-index"], reader: reader)
        #expect(outcome.status == status, "\(outcome)")
        #expect(outcome.err.contains("whorl: error: ") && outcome.err.contains("\nwhorl: hint: "))
        #expect(try await whorl.run(["fingers"]).out == "No fingers enrolled.\n")
        try await whorl.enroll()
    }

    @Test func `a script that is wrong names its place and shows the language`() async throws {
        let outcome = try await whorl.run(["devices"], reader: "mock:match,matc")
        #expect(outcome.status == 64)
        #expect(outcome.err.contains("line 1, character 7"))
        #expect(outcome.err.contains("whorl: hint: did you mean \"match\"?"))
    }

    @Test func `the same finger under another name is refused, and named`() async throws {
        try await whorl.enroll()
        let again = try await whorl.run(["enroll", "right-index"], reader: "mock:then=match")
        #expect(again.status == 34)
        #expect(
            again.err.contains(
                ServiceError(.fingerExists, details: [.finger: "right-index-finger"]).errorLine
            )
        )
        let other = try await whorl.run(["enroll", "left-thumb"], reader: "mock:touch right-index*7")
        #expect(other.status == 34)
        #expect(
            other.err.contains(
                ServiceError(.duplicate, details: [.finger: "right-index-finger"]).errorLine
            )
        )
        #expect(try await whorl.run(["fingers"]).lines.count == 1)
    }

    @Test func `presses of different fingers are refused`() async throws {
        let outcome = try await whorl.run(
            ["enroll", "right-index", "--json"],
            reader: "mock:stages=2,match*2,then=no-match"
        )
        #expect(outcome.status != 0)
        #expect(try await whorl.run(["fingers"]).out == "No fingers enrolled.\n")
    }

    @Test func `of two enrolls of one finger at once, one is kept`() async throws {
        async let first = whorl.run(["enroll", "right-index"], reader: "mock:then=match,delay:100ms")
        async let second = whorl.run(["enroll", "right-index"], reader: "mock:then=match,delay:100ms")
        let statuses = try await [first.status, second.status].sorted()
        #expect(statuses.first == 0)
        #expect(try await whorl.run(["fingers"]).lines.count == 1)
    }

    @Test
    func `a state directory that is accessible to other users is refused, with the command that mends it`()
        async throws
    {
        try await whorl.enroll()
        #expect(chmod(whorl.state, 0o750) == 0)
        let outcome = try await whorl.run(["fingers"])
        #expect(
            outcome
                == .init(
                    status: 74,
                    out: "",
                    err: "whorl: error: \(whorl.state) is accessible to other users (mode 0750)\n"
                        + "whorl: hint: restrict it: `chmod 700 \(whorl.state)`\n"
                )
        )
        #expect(chmod(whorl.state, 0o700) == 0)
        #expect(try await whorl.run(["fingers"]).status == 0)
    }

    @Test func `a state directory that cannot be made is 74`() async throws {
        let outcome = try await whorl.run(
            ["enroll", "right-index", "--state-dir", "/proc/whorl"],
            reader: "mock:then=match"
        )
        #expect(outcome.status == 74)
        #expect(outcome.err.contains(ServiceError(.storeNotWritable, "/proc/whorl").errorLine))
    }

    @Test(arguments: ["garbage", "truncated", "newer"])
    func `a database that is not sound is refused and left untouched`(kind: String) async throws {
        try await whorl.enroll()
        let path = whorl.state + "/whorl.sqlite"
        // All of it into the one file, as after a clean end.
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        var bytes = try Data(contentsOf: URL(filePath: path))
        switch kind {
        case "garbage": bytes = Data(repeating: 0x5A, count: 8192)
        case "truncated": bytes = bytes.prefix(1000)
        default: bytes.replaceSubrange(60..<64, with: [0x7F, 0xFF, 0xFF, 0xFF])  // PRAGMA user_version
        }
        try bytes.write(to: URL(filePath: path))
        #expect(chmod(path, 0o600) == 0)
        for command in [
            ["fingers"], ["enroll", "left-thumb"], ["evaluate", "--reason", "r"], ["remove", "--all"],
        ] {
            let outcome = try await whorl.run(command, reader: "mock:then=match")
            #expect(outcome.status == 74, "\(command): \(outcome)")
            #expect(outcome.err.contains("whorl: hint: "))
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }
}
