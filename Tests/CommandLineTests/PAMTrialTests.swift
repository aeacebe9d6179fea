// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import whorl

/// The trial of `whorl pam add`, through the system's libpam: the password is what a program of the test says.
@Suite(.serialized) struct `The trial of a file of PAM's` {
    private let program: WhorlProgram
    private let folder: String
    /// The file as it was before: libpam takes what is named without a path from its own folder.
    private let text: String

    init() throws {
        program = try WhorlProgram()
        folder = program.home + "/pam.d"
        let check = program.home + "/check"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try "#!/bin/sh\nIFS= read -r typed\n[ \"$typed\" = right ]\n"
            .write(toFile: check, atomically: false, encoding: .utf8)
        text = "auth include \(folder)/common-auth\n"
        try text.write(toFile: "\(folder)/sudo", atomically: false, encoding: .utf8)
        // A module that checks passwords goes by its name; this one checks what the test says.
        let modules = program.home + "/security"
        try FileManager.default.createDirectory(atPath: modules, withIntermediateDirectories: false)
        let module = modules + "/pam_unix.so"
        let places = ["x86_64-linux-gnu/security", "aarch64-linux-gnu/security", "security"].map {
            "/usr/lib/\($0)/pam_exec.so"
        }
        let real = places.first { FileManager.default.fileExists(atPath: $0) }
        try FileManager.default.createSymbolicLink(atPath: module, withDestinationPath: real ?? places[0])
        // The shell reads it: a program that another test starts may have it open for writing, and it would not be run.
        try "auth required \(module) seteuid quiet expose_authtok /bin/sh \(check)\n"
            .write(toFile: "\(folder)/common-auth", atomically: false, encoding: .utf8)
    }

    private var written: String {
        get throws { try String(contentsOfFile: "\(folder)/sudo", encoding: .utf8) }
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    /// The folders of trials that are left.
    private var left: Int {
        ["/run", "/tmp"].reduce(0) { count, place in
            // A folder that cannot be read has none of ours.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            return count + names.count { $0.hasPrefix("whorl-pam-") }
        }
    }

    /// Runs the command on a terminal of its own (script(1)), and presses keys when the password is asked for.
    private func add(typing keys: String) async throws -> String {
        let command =
            "trap : INT QUIT; \(WhorlProgram.path) pam add sudo --try --folder \(folder); echo status $?; stty -a"
        let person = """
            await() { for _ in $(seq 1500); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            await "Password: "; printf '\(keys)'; await "status [0-9]"
            """
        return try await program.run("/bin/sh", ["-c", "{ \(person); } | script -qefc '\(command)' seen"]).out
    }

    @Test func `puts the file in force after the right password`() async throws {
        let seen = try await add(typing: "right\\n")
        #expect(seen.contains("status 0"), "\(seen)")
        #expect(!seen.contains("right"), "the password was shown")
        #expect(try written == "\(PAMStack.line)\n\(text)")
        #expect(left == 0)
    }

    @Test(arguments: ["wrong\\n", "\\n", "\\003", "\\034", "\\004"])
    func `leaves everything as it was after anything else`(keys: String) async throws {
        let before = try names
        let seen = try await add(typing: keys)
        #expect(seen.contains("status 1"), "\(seen)")
        #expect(seen.contains("nothing was changed"), "\(seen)")
        #expect(seen.contains(" echo ") && seen.contains(" icanon"), "\(seen)")
        #expect(try written == text)
        #expect(try names == before && left == 0)
    }

    @Test func `is refused without a terminal, and the word for it is named`() async throws {
        let refused = try await program.run(["pam", "add", "sudo", "--try", "--folder", folder])
        #expect(refused.status == 1 && refused.err.contains("--no-try"), "\(refused)")
        #expect(try written == text)
        let added = try await program.run(["pam", "add", "sudo", "--no-try", "--folder", folder, "--json"])
        #expect(added.status == 0 && added.out.contains(#""tried":false"#), "\(added)")
        #expect(try written.hasPrefix(PAMStack.line))
    }

    @Test func `is no success where the file was changed in the meantime`() async throws {
        let changing = "#!/bin/sh\necho '# changed' >> \(folder)/sudo\n"
        try changing.write(toFile: program.home + "/check", atomically: false, encoding: .utf8)
        let seen = try await add(typing: "right\\n")
        #expect(seen.contains("status 1") && seen.contains("changed by another program"), "\(seen)")
        #expect(try written == "\(text)# changed\n")
    }
}
