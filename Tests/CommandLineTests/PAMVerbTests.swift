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
        #expect(try new.removing() == old)
    }

    @Test(arguments: [
        "auth sufficient pam_rootok.so\nauth include system-auth\naccount include system-auth\n",
        "auth\trequired\tpam_unix.so nullok\n", "auth substack password-auth", "@include common-auth",
        "auth required pam_faillock.so preauth\nauth [success=1 default=ignore] pam_sss.so\n",
    ])
    func `keeps the lines before the password's first`(text: String) throws {
        let new = try PAMStack(text: text).adding()
        #expect(try new.removing().text == text)
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

    @Test(arguments: [
        "auth required pam_unix.so nullok\nAUTH required pam_2fa.so\n",
        "auth required pam_unix.so\n-Auth optional /lib/security/pam_x.so\n",
    ])
    func `with further lines in capitals gets no line`(text: String) {
        #expect(throws: PAMStack.Fault.linesFollow) { try PAMStack(text: text).adding() }
    }

    @Test func `with a whole file after the password's gets no line where that file has lines for logins`() {
        let stack = PAMStack(text: "@include common-auth\n@include more\n")
        #expect(throws: PAMStack.Fault.linesFollow) { try stack.adding { $0 == "more" } }
        #expect(throws: Never.self) { try stack.adding { $0 == "common-account" } }
    }

    @Test(arguments: [
        "session required pam_x.so \\\n@include common-auth\n",
        "auth required \\ \n pam_unix.so\nauth required pam_sss.so\n",
        "auth required pam_unix.so nullok\r\nauth required pam_2fa.so x\r\n",
        "auth required pam_unix.so\u{0B}\n",
        "auth required pam_unix.so\0\nauth required pam_2fa.so\n",
    ])
    func `that libpam reads otherwise than line by line gets no line`(text: String) {
        #expect(throws: PAMStack.Fault.unclear) { try PAMStack(text: text).adding() }
        let own = PAMStack(text: "auth sufficient pam_whorl.so timeout=5\n\(text)")
        #expect(throws: PAMStack.Fault.unclear) { try own.removing() }
    }

    @Test(arguments: ["[success=ignore default=1]", "[ default = 2 ]", "[success=1 default=ignore]"])
    func `in which a line before counts lines keeps them`(control: String) {
        let line = "auth \(control) pam_succeed_if.so user ingroup sudo"
        #expect(throws: PAMStack.Fault.linesCounted) { try PAMStack(text: "\(line)\n\(sudo)").adding() }
        let own = PAMStack(text: "\(line)\n\(PAMStack.line)\n\(sudo)")
        #expect(throws: PAMStack.Fault.linesCounted) { try own.removing() }
        #expect(throws: Never.self) {
            try PAMStack(text: "auth [success=ok default=die] pam_x.so a=1\n\(sudo)").adding()
        }
    }

    @Test func `may name the module by its path`() {
        let own = PAMStack(text: "auth sufficient /lib/security/pam_whorl.so\n\(sudo)")
        #expect(own.hasModule)
        #expect(throws: PAMStack.Fault.there) { try own.adding() }
        let text = "auth required /lib/security/pam_unix.so\n"
        #expect(throws: Never.self) { try PAMStack(text: text).adding() }
    }

    @Test func `is the line of the comment's words alone`() {
        #expect(!PAMStack(text: "#\u{301} auth required pam_whorl.so\n").hasModule)
    }

    @Test func `with a line gets no second one, whatever its options`() {
        let own = PAMStack(text: "auth sufficient pam_whorl.so timeout=5\n\(sudo)")
        #expect(own.hasModule)
        #expect(throws: PAMStack.Fault.there) { try own.adding() }
        #expect(!PAMStack(text: "# auth sufficient pam_whorl.so\n").hasModule)
    }
}

@Suite struct `The command pam` {
    /// Debian's own.
    private static let commonAuth = """
        auth\t[success=1 default=ignore]\tpam_unix.so nullok
        auth\trequisite\tpam_deny.so
        auth\trequired\tpam_permit.so
        auth\toptional\tpam_cap.so

        """

    private func folder(_ program: WhorlProgram, _ files: [String: String] = ["sudo": sudo]) throws -> String
    {
        let folder = program.home + "/pam.d"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let common = [
            "common-account": "account required pam_unix.so\n", "common-session-noninteractive": "\n",
            "common-auth": Self.commonAuth,
        ]
        for (name, text) in common.merging(files, uniquingKeysWith: { $1 }) {
            try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
        return folder
    }

    /// The names of the files, but for those of accounts and sessions.
    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { !["common-account", "common-auth", "common-session-noninteractive"].contains($0) }
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
        #expect(try names(in: folder) == ["sudo"])
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
        #expect(try names(in: folder) == ["sudo"])
    }

    @Test(arguments: ["../passwd", "common-auth", "other", ".hidden", "a/b", "", "sudo x"])
    func `takes no name that is none of one program`(name: String) async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        for verb in ["add", "remove", "status"] {
            #expect(try await program.run(["pam", verb, name, "--folder", folder]).status == 64)
        }
    }

    @Test(arguments: [
        "garbage required pam_permit.so", "foo", "@include", "auth required",
        "#" + String(repeating: "x", count: 1022),
        "auth sufficient \\\npam_whorl.so", "auth required pam_unix.so \\\nauth sufficient pam_whorl.so",
    ])
    func `a line that libpam does not know, cuts or joins is left to the administrator`(line: String)
        async throws
    {
        let program = try WhorlProgram()
        let text = "auth required pam_unix.so\n\(line)\n"
        let folder = try folder(program, ["g": text])
        let added = try await program.run(["pam", "add", "g", "--folder", folder, "--no-try"])
        #expect(added.status == 1 && added.err.contains("not known to libpam"), "\(added)")
        #expect(try String(contentsOfFile: "\(folder)/g", encoding: .utf8) == text)
        guard line.contains("pam_whorl") else { return }
        for verb in ["status", "remove"] {
            let outcome = try await program.run(["pam", verb, "g", "--folder", folder])
            #expect(outcome.status == 1 && outcome.err.contains("not known to libpam"), "\(outcome)")
        }
    }

    @Test(arguments: ["auth required pam_whorl.so keep", "account required pam_whorl.so"])
    func `a line of the module that prompts for no touch is none that accepts one, and stays`(line: String)
        async throws
    {
        let program = try WhorlProgram()
        let text = "auth required pam_unix.so\n\(line)\n"
        let folder = try folder(program, ["g": text])
        let status = try await program.run(["pam", "status", "g", "--folder", folder])
        #expect(status.out.contains("does not accept a touch"), "\(status)")
        #expect(try await program.run(["pam", "remove", "g", "--folder", folder]).status == 0)
        #expect(try String(contentsOfFile: "\(folder)/g", encoding: .utf8) == text)
    }

    @Test func `creates the file of KDE's service for fingers, and deletes it`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        let file = "\(folder)/kde-fingerprint"
        let tried = try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder, "--dry-run"])
        #expect(tried.status == 0 && tried.out.contains(PAMTouchFile.line))
        #expect(!FileManager.default.fileExists(atPath: file))
        let added = try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder, "--json"])
        #expect(added.status == 0 && added.out.contains(#""added":true"#), "\(added)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.split(separator: "\n").last.map(String.init) == PAMTouchFile.line)
        let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(rights == 0o644)
        let status = try await program.run(["pam", "status", "kde-fingerprint", "--folder", folder, "--json"])
        #expect(status.out.contains(#""by":"own""#), "\(status)")
        #expect(try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder]).status == 34)
        let removed = try await program.run([
            "pam", "remove", "kde-fingerprint", "--folder", folder, "--json",
        ])
        #expect(removed.status == 0 && removed.out.contains(#""removed":true"#), "\(removed)")
        #expect(try names(in: folder) == ["sudo"])
    }

    // Docs/Security.md: S6
    @Test(arguments: [
        "auth required pam_unix.so\nauth required pam_google_authenticator.so\n",
        "auth required pam_faillock.so preauth\nauth required pam_unix.so\n",
        "@include closed\n",
    ])
    func `creates no file of KDE's for fingers where the password's service checks more`(_ text: String)
        async throws
    {
        for name in ["kde", "other"] {
            let program = try WhorlProgram()
            let folder = try folder(program, [name: text, "closed": "auth required pam_duo.so\n"])
            let outcome = try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder])
            #expect(outcome.status == 1 && outcome.err.contains("a touch would skip pam_"), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/kde-fingerprint"))
        }
    }

    @Test func `a changed file of KDE's service for fingers loses the line alone`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        let file = "\(folder)/kde-fingerprint"
        #expect(try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder]).status == 0)
        let more = try String(contentsOfFile: file, encoding: .utf8) + "auth required pam_permit.so\n"
        try more.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await program.run(["pam", "remove", "kde-fingerprint", "--folder", folder]).status == 0)
        let left = try String(contentsOfFile: file, encoding: .utf8)
        #expect(left == more.replacing(PAMTouchFile.line + "\n", with: ""))
    }

    @Test func `a file of KDE's service for fingers that names another module stays`() async throws {
        let program = try WhorlProgram()
        let other = "auth required pam_fprintd.so\n"
        let folder = try folder(program, ["kde-fingerprint": other])
        #expect(try await program.run(["pam", "add", "kde-fingerprint", "--folder", folder]).status != 0)
        #expect(try String(contentsOfFile: "\(folder)/kde-fingerprint", encoding: .utf8) == other)
    }

    @Test func `says which file is missing`() async throws {
        let program = try WhorlProgram()
        let outcome = try await program.run(["pam", "add", "sudoo", "--folder", try folder(program)])
        #expect(outcome.status == 1 && outcome.err.contains("annot read ") && outcome.err.contains("/sudoo"))
    }

    /// A folder for the administration's files, and one for those that come with the system.
    private func folders(_ program: WhorlProgram, _ text: String = sudo) throws -> PAMFolder {
        let vendor = program.home + "/vendor"
        try FileManager.default.createDirectory(atPath: vendor, withIntermediateDirectories: false)
        let files = PAMFolder(path: try folder(program, [:]), vendors: [program.home + "/none", vendor])
        try text.write(toFile: "\(vendor)/polkit-1", atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: "\(vendor)/polkit-1")
        return files
    }

    @Test func `copies a file that comes with the system, and takes the copy away with the line`() throws {
        let program = try WhorlProgram()
        let files = try folders(program)
        let vendor = try #require(files.vendorFile(of: "polkit-1"))
        #expect(vendor == program.home + "/vendor/polkit-1")
        let old = try files.stack(of: "polkit-1")
        #expect(old.text == sudo)
        let new = try old.adding()
        try files.replace("polkit-1", old, by: new)
        #expect(try names(in: files.path) == [".polkit-1.copied-by-whorl", "polkit-1"])
        #expect(files.vendorFile(of: "polkit-1") == nil)
        #expect(try files.stack(of: "polkit-1") == new)
        #expect(try String(contentsOfFile: vendor, encoding: .utf8) == sudo)
        let rights = try FileManager.default.attributesOfItem(atPath: files.path + "/polkit-1")[
            .posixPermissions
        ]
        #expect(rights as? Int == 0o640)
        try files.restore("polkit-1", new, to: new.removing())
        #expect(try names(in: files.path) == [])
        #expect(try files.stack(of: "polkit-1") == old)
    }

    @Test func `copies a packaged file for fingers with the module in place of fprintd's`() throws {
        let program = try WhorlProgram()
        defer { withExtendedLifetime(program) {} }
        // What Debian 13 has, in short.
        let packaged = """
            auth    requisite       pam_nologin.so
            auth\trequired\tpam_succeed_if.so user != root quiet_success
            auth\trequired\tpam_fprintd.so max-tries=1
            auth    optional        pam_kwallet5.so
            @include common-account
            password required       pam_fprintd.so

            """
        let files = try folders(program)
        let vendor = program.home + "/vendor"
        try packaged.write(toFile: "\(vendor)/kde-fingerprint", atomically: false, encoding: .utf8)
        let kde = packaged.replacing(
            "auth\trequired\tpam_fprintd.so max-tries=1",
            with: "@include common-auth"
        )
        try kde.write(toFile: "\(vendor)/kde", atomically: false, encoding: .utf8)
        let file = try #require(PAMTouchFile(service: "kde-fingerprint", in: files))
        let (old, new) = try file.draft()
        #expect(old?.text == packaged)
        let expected = packaged.replacing("pam_fprintd.so max-tries=1", with: "pam_whorl.so")
            .replacing("password required       pam_fprintd.so\n", with: "")
        #expect(new.text == expected)
        try file.create(new, from: old)
        #expect(try files.stack(of: "kde-fingerprint") == new && file.isUnchanged(new))
        #expect(!file.isUnchanged(PAMStack(text: new.text + "auth required pam_x.so\n")))
        try file.delete()
        #expect(try names(in: files.path) == [])
        #expect(try files.stack(of: "kde-fingerprint").text == packaged)
        // A second factor of the password's service, which the packaged file for fingers does not have.
        try (kde + "auth required pam_duo.so\n").write(
            toFile: "\(vendor)/kde",
            atomically: false,
            encoding: .utf8
        )
        #expect(throws: PAMStack.Fault.skips("pam_duo.so", "kde")) { try file.draft() }
    }

    @Test func `leaves a copy in which something else was changed`() throws {
        let program = try WhorlProgram()
        defer { withExtendedLifetime(program) {} }
        let files = try folders(program)
        let old = try files.stack(of: "polkit-1")
        try files.replace("polkit-1", old, by: old.adding())
        let edited = PAMStack(text: try old.adding().text + "session optional pam_x.so\n")
        try edited.text.write(toFile: files.path + "/polkit-1", atomically: false, encoding: .utf8)
        try files.restore("polkit-1", edited, to: edited.removing())
        #expect(try files.stack(of: "polkit-1").text == sudo + "session optional pam_x.so\n")
        #expect(files.vendorFile(of: "polkit-1") == nil)
    }

    @Test func `does not take a file of the administration's away, though it is as the system's`() throws {
        let program = try WhorlProgram()
        defer { withExtendedLifetime(program) {} }
        let files = try folders(program)
        let old = try files.stack(of: "polkit-1")
        let own = files.path + "/polkit-1"
        // What an earlier copy has left, as after a crash.
        try sudo.write(toFile: files.vendorCopy(of: "polkit-1"), atomically: false, encoding: .utf8)
        try sudo.write(toFile: own, atomically: false, encoding: .utf8)
        try files.replace("polkit-1", old, by: old.adding())
        try files.restore("polkit-1", old.adding(), to: old)
        #expect(try String(contentsOfFile: own, encoding: .utf8) == sudo)
        #expect(try names(in: files.path) == ["polkit-1"])
    }

    @Test func `tells of a copy whose original was changed since`() throws {
        let program = try WhorlProgram()
        let files = try folders(program)
        let old = try files.stack(of: "polkit-1")
        #expect(files.changedVendorFile(of: "polkit-1") == nil)
        try files.replace("polkit-1", old, by: old.adding())
        #expect(files.changedVendorFile(of: "polkit-1") == nil)
        let vendor = program.home + "/vendor/polkit-1"
        try "\(sudo)# newer\n".write(toFile: vendor, atomically: false, encoding: .utf8)
        #expect(files.changedVendorFile(of: "polkit-1") == vendor)
        try files.restore("polkit-1", old.adding(), to: old)
        #expect(try files.stack(of: "polkit-1").text == "\(sudo)# newer\n")
    }

    @Test
    func
        `writes nothing where a file has come to be in the system's place meanwhile, or a link leads nowhere`()
        throws
    {
        let program = try WhorlProgram()
        defer { withExtendedLifetime(program) {} }
        let files = try folders(program)
        let old = try files.stack(of: "polkit-1")
        let own = files.path + "/polkit-1"
        try "auth required pam_unix.so\n".write(toFile: own, atomically: false, encoding: .utf8)
        #expect(throws: Failure.self) { try files.replace("polkit-1", old, by: old.adding()) }
        #expect(try String(contentsOfFile: own, encoding: .utf8) == "auth required pam_unix.so\n")
        try FileManager.default.removeItem(atPath: own)
        try FileManager.default.createSymbolicLink(atPath: own, withDestinationPath: "nowhere")
        #expect(files.vendorFile(of: "polkit-1") == nil)
        #expect(throws: Failure.self) { try files.stack(of: "polkit-1") }
        #expect(throws: Failure.self) { try files.replace("polkit-1", old, by: old.adding()) }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: own) == "nowhere")
    }

    @Test func `takes no line out of a file that comes with the system`() throws {
        let program = try WhorlProgram()
        let files = try folders(program, "\(PAMStack.line)\n\(sudo)")
        let old = try files.stack(of: "polkit-1")
        #expect(throws: Failure.self) { try files.restore("polkit-1", old, to: old.removing()) }
        #expect(try files.stack(of: "polkit-1") == old)
        #expect(try names(in: files.path) == [])
    }

    @Test func `leaves a link, and a file of another one's, as they are`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program, ["real": sudo, "sudo.new": "mine", "su": sudo])
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/sudo", withDestinationPath: "real")
        let outcome = try await program.run(["pam", "add", "sudo", "--folder", folder])
        #expect(outcome.status == 1 && outcome.err.contains("was not replaced"), "\(outcome)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/sudo") == "real")
        try FileManager.default.removeItem(atPath: "\(folder)/sudo")
        try FileManager.default.moveItem(atPath: "\(folder)/real", toPath: "\(folder)/sudo")
        #expect(try await program.run(["pam", "add", "sudo", "--folder", folder]).status == 0)
        #expect(try String(contentsOfFile: "\(folder)/sudo.new", encoding: .utf8) == "mine")
        #expect(try names(in: folder) == [".sudo.before-whorl", "su", "sudo", "sudo.new"])
    }

    @Test func `keeps the labels of the file`() async throws {
        let program = try WhorlProgram()
        let folder = try folder(program)
        let file = "\(folder)/sudo"
        let attribute = "import os, sys; print(os.{}xattr(*map(os.fsencode, sys.argv[1:])))"
        func python(_ function: String, _ arguments: String...) async throws -> String {
            let text = attribute.replacing("{}", with: function)
            return try await program.run("/usr/bin/python3", ["-c", text] + arguments).out
        }
        #expect(try await python("set", file, "user.whorl-test", "kept") == "None\n")
        #expect(try await program.run(["pam", "add", "sudo", "--folder", folder]).status == 0)
        for path in [file, "\(folder)/.sudo.before-whorl"] {
            #expect(try await python("get", path, "user.whorl-test") == "b'kept'\n")
        }
    }

    @Test(arguments: [
        // Fedora's profile with-fingerprint, and Debian's profile fprintd.
        "auth required pam_env.so\nauth sufficient pam_fprintd.so\nauth sufficient pam_unix.so nullok\nauth required pam_deny.so\n",
        "auth [success=2 default=ignore] pam_fprintd.so max-tries=1\nauth [success=1 default=ignore] pam_unix.so\n",
    ])
    func `adds nothing where an included file asks for a finger by another module`(_ text: String)
        async throws
    {
        let program = try WhorlProgram()
        let folder = try folder(
            program,
            ["sudo": sudo, "common-auth": "@include deeper-auth\n", "deeper-auth": text]
        )
        let outcome = try await program.run(["pam", "add", "sudo", "--folder", folder])
        #expect(outcome.status == 1 && outcome.err.contains("pam_fprintd.so in deeper-auth"), "\(outcome)")
        #expect(try String(contentsOfFile: "\(folder)/sudo", encoding: .utf8) == sudo)
        let status = try await program.run(["pam", "status", "sudo", "--folder", folder])
        #expect(status.out.contains("through pam_fprintd.so, named in deeper-auth"), "\(status)")
    }

    // Docs/Security.md: S6
    @Test(arguments: [
        "auth requisite pam_unix.so nullok\nauth [success=1 default=ignore] pam_duo.so\nauth requisite pam_deny.so\n",
        "auth required pam_2fa.so\nauth required pam_unix.so\n",
        "auth required pam_faillock.so preauth\nauth sufficient pam_unix.so\nauth required pam_deny.so\n",
        "auth requisite pam_succeed_if.so uid >= 1000\nauth required pam_unix.so\n",
        "auth required pam_unix.so\nauth substack deeper\n",
        "auth required pam_unix.so\n-AUTH optional /lib/security/pam_x.so\n",
        // Closed to everyone, and modules that only share the name of a harmless one.
        "auth requisite pam_deny.so\nauth required pam_unix.so\n",
        "auth required pam_unix.so\nauth required /opt/duo/pam_permit.so\n",
        "auth required /opt/2fa/pam_unix.so\nauth required pam_unix.so\n",
    ])
    func `adds nothing where a touch would skip a check of an included file`(_ text: String) async throws {
        for including in ["@include common-auth", "auth include common-auth", "auth substack common-auth"] {
            let program = try WhorlProgram()
            let files = [
                "sudo": "\(including)\naccount include common-account\n", "common-auth": text,
                "deeper": "account required pam_unix.so\nauth required pam_duo.so\n",
            ]
            let outcome = try await program.run([
                "pam", "add", "sudo", "--folder", try folder(program, files),
            ])
            #expect(outcome.status == 1 && outcome.err.contains("a touch would skip "), "\(outcome)")
        }
    }

    @Test(arguments: [
        "auth required pam_env.so\nauth sufficient pam_unix.so\nauth [success=1 default=ignore] pam_succeed_if.so uid >= 1000\n"
            + "auth sufficient pam_sss.so forward_pass\nauth required pam_deny.so\n",
        "account required pam_2fa.so\nauth required pam_unix.so\nsession required pam_x.so\n",
    ])
    func `adds the line where an included file has passwords and nothing that a touch would skip`(
        _ text: String
    )
        async throws
    {
        let program = try WhorlProgram()
        let folder = try folder(program, ["sudo": "auth include system-auth\n", "system-auth": text])
        let outcome = try await program.run(["pam", "add", "sudo", "--folder", folder])
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test(arguments: [
        "auth include common-auth\n", "auth required pam_unix.so \\\n  nullok\n",
        "auth required pam_permit.so\n",
    ])
    func `adds nothing where an included file includes itself, is unclear or has no password`(_ text: String)
        async throws
    {
        let program = try WhorlProgram()
        let folder = try folder(program, ["sudo": sudo, "common-auth": text])
        let outcome = try await program.run(["pam", "add", "sudo", "--folder", folder])
        #expect(outcome.status == 1, "\(outcome)")
    }

    @Test func `adds nothing where a whole file that follows has lines for logins, or cannot be read`()
        async throws
    {
        for more in ["auth required pam_2fa.so\n", nil] {
            let program = try WhorlProgram()
            var files = ["sudo": "\(sudo)@include more\n"]
            files["more"] = more
            let folder = try folder(program, files)
            let outcome = try await program.run(["pam", "add", "sudo", "--folder", folder])
            #expect(outcome.status == 1 && outcome.err.contains("a touch would skip"), "\(outcome)")
        }
    }
}
