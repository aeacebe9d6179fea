// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import whorl

private let sudo = """
    #%PAM-1.0

    # Set up user limits from /etc/security/limits.conf.
    session    required   pam_limits.so

    @include common-auth
    @include common-account
    @include common-session-noninteractive

    """

@Suite struct `A file of PAM's` {
    @Test func `gets the line right before the password's, and is the same after it is taken out`() throws {
        let old = PAMStack(text: sudo)
        let new = try old.adding()
        #expect(new.hasModule && !old.hasModule)
        #expect(
            new.text == sudo.replacing("@include common-auth", with: "\(PAMStack.line)\n@include common-auth")
        )
        #expect(new.removing() == old)
    }

    @Test(arguments: [
        "auth sufficient pam_rootok.so\nauth include system-auth\naccount include system-auth\n",
        "auth\trequired\tpam_unix.so nullok\n", "auth substack password-auth", "@include common-auth",
        "auth required pam_faillock.so preauth\nauth [success=1 default=ignore] pam_sss.so\n",
    ])
    func `keeps the lines before the password's first`(text: String) throws {
        let new = try PAMStack(text: text).adding()
        #expect(new.removing().text == text)
        let lines = new.text.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0 == PAMStack.line })
        #expect(
            place + 1 == text.split(separator: "\n").count { $0.contains("auth") && !$0.hasPrefix("account") }
        )
    }

    @Test(arguments: [
        "", "\n", "session required pam_limits.so\n", "auth required pam_permit.so\n",
        "# @include common-auth\n",
        "auth required pam_deny.so\n", "account include system-auth\n",
    ])
    func `in which no line asks for a password gets no line`(text: String) {
        #expect(throws: PAMStack.Fault.withoutPassword) { try PAMStack(text: text).adding() }
    }

    @Test func `in which further lines follow the password's gets no line, since a touch would skip them`() {
        for more in ["auth optional pam_group.so", "-auth optional pam_x.so", "@include other-auth"] {
            #expect(throws: PAMStack.Fault.linesFollow) { try PAMStack(text: "\(sudo)\(more)\n").adding() }
        }
    }

    @Test func `with a line gets no second one, whatever its options`() {
        let own = PAMStack(text: "auth sufficient pam_whorl.so timeout=5\n\(sudo)")
        #expect(own.hasModule)
        #expect(throws: PAMStack.Fault.there) { try own.adding() }
        #expect(!PAMStack(text: "# auth sufficient pam_whorl.so\n").hasModule)
    }
}

@Suite struct `The command pam` {
    private func folder(_ program: WhorlProgram, _ files: [String: String] = ["sudo": sudo]) throws -> String
    {
        let folder = program.home + "/pam.d"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for (name, text) in files {
            try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
        return folder
    }

    @Test func `adds the line, keeps the old file, and takes both away again`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        let file = "\(folder)/sudo"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let tried = try await program.run(["pam", "add", "sudo", "--folder", folder, "--dry-run", "--json"])
        #expect(tried.status == 0 && tried.out.contains(#""added":false"#))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == sudo)
        let added = try await program.run(["pam", "add", "sudo", "--folder", folder, "--json"])
        #expect(added.status == 0 && added.out.contains(#""added":true"#))
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains(PAMStack.line))
        #expect(try String(contentsOfFile: "\(folder)/.sudo.before-whorl", encoding: .utf8) == sudo)
        let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(rights == 0o640)
        let status = try await program.run(["pam", "status", "sudo", "--folder", folder, "--json"])
        #expect(status.status == 0 && status.out.contains(#""takesFinger":true"#))
        #expect(try await program.run(["pam", "add", "sudo", "--folder", folder]).status == 34)
        let removed = try await program.run(["pam", "remove", "sudo", "--folder", folder, "--json"])
        #expect(removed.status == 0 && removed.out.contains(#""removed":true"#))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == sudo)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["sudo"])
    }

    @Test func `leaves what was changed meanwhile, and the kept file with it`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        #expect(try await program.run(["pam", "add", "sudo", "--folder", folder]).status == 0)
        let file = "\(folder)/sudo"
        let changed = try String(contentsOfFile: file, encoding: .utf8) + "session optional pam_x.so\n"
        try changed.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await program.run(["pam", "remove", "sudo", "--folder", folder]).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == sudo + "session optional pam_x.so\n")
        #expect(FileManager.default.fileExists(atPath: "\(folder)/.sudo.before-whorl"))
    }

    @Test func `adds nothing where an included file has the line`() async throws {
        let program = try WhorlProgram()
        let files = ["sudo": sudo, "common-auth": "auth [success=2 default=ignore] pam_whorl.so\n"]
        let folder = try folder(program, files)
        #expect(try await program.run(["pam", "add", "sudo", "--folder", folder]).status == 34)
        let status = try await program.run(["pam", "status", "sudo", "--folder", folder, "--json"])
        #expect(status.out.contains(#""by":"included""#))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["common-auth", "sudo"]
        )
    }

    @Test(arguments: ["../passwd", "common-auth", "other", ".hidden", "a/b", "", "sudo x"])
    func `takes no name that is none of one program`(name: String) async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        for verb in ["add", "remove", "status"] {
            #expect(try await program.run(["pam", verb, name, "--folder", folder]).status == 64)
        }
    }

    @Test func `says which file is missing`() async throws {
        let program = try WhorlProgram()
        let outcome = try await program.run(["pam", "add", "sudoo", "--folder", try folder(program)])
        #expect(outcome.status == 1 && outcome.err.contains("sudoo cannot be read"))
    }
}
