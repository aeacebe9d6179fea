// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Glibc
import Testing

@testable import whorl

/// `whorl devices exercise --report`; `scripts/hardware` looks at each report, as it does at one of a stranger's.
struct HardwareReportTests {
    private let whorl: WhorlProgram
    private static let chip = "mock:storage=reader,stages=2,then=match"
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "scripts/hardware").path

    init() throws { whorl = try WhorlProgram() }

    private func exercise(_ arguments: [String] = [], reader: String = chip) async throws
        -> WhorlProgram.Outcome
    {
        try await whorl.run(["devices", "exercise", "--report"] + arguments, reader: reader)
    }

    private func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(whorl.home)/\(name)")
    }

    /// Returns the report in a file, after `scripts/hardware` has taken it.
    private func report(_ name: String) async throws -> [String: Any] {
        let path = "\(whorl.home)/\(name)"
        let outcome = try await whorl.run("/usr/bin/python3", ["-B", Self.script, "validate", path])
        #expect(outcome.status == 0, "\(outcome)")
        return try #require(object(try String(contentsOfFile: path, encoding: .utf8)))
    }

    @Test func `a report is shown and saved, and says where it belongs`() async throws {
        let outcome = try await exercise(["--yes"])
        #expect(outcome.status == 0, "\(outcome)")
        let saved = try String(contentsOfFile: "\(whorl.home)/reader-mock.json", encoding: .utf8)
        #expect(outcome.err.contains(saved), "\(outcome)")
        #expect(outcome.out.contains("Report saved to reader-mock.json."))
        #expect(outcome.out.contains("Docs/hardware/ in Whorl's source"))
        #expect(!(outcome.out + outcome.err).contains("://"))
        let reader = try #require(try await report("reader-mock.json")["reader"] as? [String: Any])
        #expect(reader["source"] as? String == "mock" && reader["driver"] as? String == "mock")
        #expect(reader["usb"] is NSNull && reader["libfprint"] is NSNull)
        let steps = try #require(reader["steps"] as? [[String: Any]])
        #expect(
            steps.compactMap { $0["name"] as? String }
                == ["open", "enroll", "list", "verify", "identify", "delete", "close"]
        )
        #expect(steps.allSatisfy { $0["error"] == nil && $0["seconds"] is Double })
    }

    @Test func `a report names no reader, machine, person or folder`() async throws {
        let names = ["mock-SERIAL-4711", "SERIAL-4711", "Anna's reader", "my-label"]
        // The reader's own id and name, the profile and the state's folder.
        let reader = "mock:storage=reader,stages=2,id=mock-SERIAL-4711,name=Anna's reader,then=match"
        let arguments = ["--yes", "--json", "--output", "a.json", "--profile", "my-label"]
        let outcome = try await exercise(arguments, reader: reader)
        #expect(outcome.status == 0, "\(outcome)")
        _ = try await report("a.json")
        let text = try String(contentsOfFile: "\(whorl.home)/a.json", encoding: .utf8)
        for name in names + [whorl.home, ProcessInfo.processInfo.hostName, NSUserName()] where name.count > 4
        {
            #expect(!text.contains(name), "\(name) in \(text)")
        }
        let result = try #require(outcome.answer("result"))
        #expect(result["output"] as? String == "a.json")
        let shown = try #require(result["report"] as? [String: Any])
        #expect(NSDictionary(dictionary: shown) == NSDictionary(dictionary: try #require(object(text))))
    }

    @Test func `a step that failed is in the report with the error's code alone`() async throws {
        let outcome = try await exercise(["--yes"], reader: "mock:storage=reader,stages=1,match,malfunction")
        #expect(outcome.status == 1)
        let reader = try #require(try await report("reader-mock.json")["reader"] as? [String: Any])
        let failed = (reader["steps"] as? [[String: Any]])?.compactMap { $0["error"] as? String }
        #expect(failed == ["readerFailed"])
        let other = try await exercise(["--yes"], reader: "mock:storage=reader,stages=1,match,no-match")
        #expect(other.status == 1)
        let second = try #require(try await report("reader-mock.json")["reader"] as? [String: Any])
        #expect(
            (second["steps"] as? [[String: Any]])?.compactMap { $0["error"] as? String } == ["inconsistent"]
        )
    }

    @Test func `a report of a reader that was unplugged is saved, too`() async throws {
        let outcome = try await exercise(["--yes"], reader: "mock:storage=reader,stages=1,match,unplug")
        #expect(outcome.status == 1)
        let reader = try #require(try await report("reader-mock.json")["reader"] as? [String: Any])
        let failed = (reader["steps"] as? [[String: Any]])?.compactMap { $0["error"] as? String }
        #expect(failed?.first == "biometryDisconnected")
    }

    @Test func `without a terminal nothing is saved unasked, and no finger is asked for`() async throws {
        for arguments in [[], ["--json"], ["--output", "x.json"]] {
            let outcome = try await exercise(arguments, reader: "mock:hang")
            #expect(outcome.status == 64, "\(outcome)")
            #expect((outcome.out + outcome.err).contains("--yes"))
        }
        #expect(!exists("x.json") && !exists("reader-mock.json"))
        for arguments in [["--yes"], ["--output", "x.json"]] {
            let outcome = try await whorl.run(["devices", "exercise"] + arguments, reader: "mock:hang")
            #expect(outcome.status == 64 && outcome.err.contains("require --report"), "\(outcome)")
        }
        let folder = try await exercise(["--yes", "--output", whorl.home], reader: "mock:hang")
        #expect(folder.status == 74 && folder.err.contains("cannot write the report"), "\(folder)")
    }

    @Test(.enabled(if: geteuid() == 0, "giving files away needs root"))
    func `root, by sudo, replaces a file of the user and leaves it to the user, and no other one's`()
        async throws
    {
        let path = "\(whorl.home)/mine.json"
        let arguments = ["devices", "exercise", "--report", "--yes", "--output", "mine.json"]
        for (owner, sudo, isReplaced) in [
            (1000, ["SUDO_UID": "1000"], true), (0, ["SUDO_UID": "1000"], true), (0, [:], true),
            (1001, ["SUDO_UID": "1000"], false), (1000, [:], false), (1000, ["SUDO_UID": "x"], false),
        ] as [(UInt32, [String: String], Bool)] {
            try "old".write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, 0o640)
            chown(path, owner, owner)
            let outcome = try await whorl.run(arguments, reader: Self.chip, environment: sudo)
            #expect(outcome.status == (isReplaced ? 0 : 74), "\(owner) \(sudo): \(outcome)")
            #expect(isReplaced || outcome.err.contains("the file belongs to another user"), "\(outcome)")
            var present = stat()
            #expect(lstat(path, &present) == 0 && present.st_uid == owner && present.st_gid == owner)
            #expect(present.st_mode & 0o777 == (isReplaced ? 0o600 : 0o640))
            #expect(try (String(contentsOfFile: path, encoding: .utf8) == "old") != isReplaced)
            unlink(path)
        }
    }

    @Test(arguments: [("y", true), ("YES", true), ("n", false), ("", false), ("yesterday", false)])
    func `on a terminal it is saved only after a yes`(answer: String, isSaved: Bool) async throws {
        // Keys that were typed before the question are no answer to it.
        let person = """
            await() { for _ in $(seq 3000); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            printf "y\\r"; await "y/N"; sleep 0.2; printf "\(answer)\\r"; await "status [0-9]"
            """
        let command =
            "\(WhorlProgram.path) devices exercise --report --reader \(Self.chip); echo status $?"
        let outcome = try await whorl.run(
            "/bin/sh",
            ["-c", "{ \(person); } | script -qefc '\(command)' seen"]
        )
        #expect(outcome.out.contains("\"format\": 1"), "\(outcome)")
        #expect(outcome.out.contains("status 0"), "\(outcome)")
        #expect(exists("reader-mock.json") == isSaved, "\(outcome)")
        #expect(outcome.out.contains("Report not saved.") == !isSaved, "\(outcome)")
    }

    @Test func `an interrupt at the question saves nothing`() async throws {
        let person = """
            await() { for _ in $(seq 3000); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            await "y/N"; sleep 0.2; printf "\\003"; await "status [0-9]"
            """
        let command =
            "\(WhorlProgram.path) devices exercise --report --reader \(Self.chip); echo status $?"
        let outcome = try await whorl.run(
            "/bin/sh",
            ["-c", "{ \(person); } | script -qefc 'trap : INT; \(command)' seen"]
        )
        #expect(outcome.out.contains("status 11"), "\(outcome)")
        #expect(!exists("reader-mock.json"))
    }

    @Test(
        arguments: [
            ("1:1.94.5-1", "1.94.5"), ("1.94.9-2", "1.94.9"),
            ("1:1.94.7+tod1-0ubuntu5~24.04.4", "1.94.7+tod"),
            ("1.94.5-1~anna@her-machine", "1.94.5"), ("anna", nil), ("", nil), ("1:", nil),
            (String(repeating: "1", count: 21), nil),
        ] as [(String, String?)]
    )
    func `of libfprint's version only the upstream part is taken`(version: String, upstream: String?) {
        #expect(LibfprintVersion.upstream(version) == upstream)
    }

    @Test func `libfprint's version is in the list of packages, or not known`() throws {
        func write(_ text: String, _ path: String) throws {
            let file = URL(filePath: "\(whorl.home)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        #expect(LibfprintVersion.installed(in: "\(whorl.home)/none") == nil)
        try write(
            "Package: a\nVersion: 1\n\nPackage: libfprint-2-2\nStatus: x\nVersion: 1:1.94.9-2\n\nPackage: b\nVersion: 3\n",
            "deb/var/lib/dpkg/status"
        )
        #expect(LibfprintVersion.installed(in: "\(whorl.home)/deb") == "1.94.9")
        try write("Package: libfprint-2-2\n\nPackage: b\nVersion: 3\n", "gone/var/lib/dpkg/status")
        #expect(LibfprintVersion.installed(in: "\(whorl.home)/gone") == nil)
        try write("", "arch/var/lib/pacman/local/libfprint-tod-git-2-1/desc")
        try write("", "arch/var/lib/pacman/local/libfprint-1.94.10-1/desc")
        #expect(LibfprintVersion.installed(in: "\(whorl.home)/arch") == "1.94.10")
    }
}
