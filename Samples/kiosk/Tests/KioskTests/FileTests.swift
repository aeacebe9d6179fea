// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Kiosk

@Suite struct FileTests {
    private func badges(_ text: String) throws(FileFault) -> Badges {
        try Badges(lines: Lines.of(Array(text.utf8)) ?? [], of: "badges")
    }

    private func choices(_ text: String) throws(FileFault) -> Configuration {
        try Configuration(
            lines: Lines.of(Array(text.utf8)) ?? [],
            of: "kiosk.conf"
        )
    }

    @Test func `a badge's number stands for a name`() throws {
        let badges = try badges("# the staff\n\n 0042\tada \r\n7 grace.hopper\n")
        #expect(Person(typed: "0042", badges) == .name("ada"))
        #expect(Person(typed: " 7\r", badges) == .name("grace.hopper"))
        #expect(Person(typed: "42", badges) == .unknownBadge)
        #expect(Person(typed: "ada", badges) == .name("ada"))
    }

    @Test(arguments: [
        "", " ", "-ada", "a b", "a\tb", "../etc", "a\"b", "ada\u{0}", "é", "#ada", "ada\nroot",
        String(repeating: "a", count: 65),
    ])
    func `what is no name is asked for by no one`(line: String) {
        #expect(Person(typed: line, Badges()) == .none)
    }

    @Test(arguments: [
        ("1 ada\n2", "badges, line 2: a line has a number and a name"),
        ("1 ada x", "badges, line 1: a line has a number and a name"),
        ("x ada", "badges, line 1: a number has 1 to 32 digits"),
        ("1 -x", "badges, line 1: this is no user's name"),
        ("1 2", "badges, line 1: this is no user's name"),
        ("1 ada\n1 bob", "badges, line 2: this number is there twice"),
    ])
    func `a wrong line of the badges is named`(text: String, sentence: String) {
        let error = #expect(throws: FileFault.self) { try badges(text) }
        #expect(error?.sentence == sentence)
    }

    @Test func `choices are read, and what is not chosen stays`() throws {
        let choices = try choices("Command = x --y  \nPasswords=yes\nIdleSeconds=60\n#Title=no\n")
        #expect(choices.command == "x --y" && choices.takesPasswords && choices.idle == 60)
        #expect(choices.title == "Welcome" && choices.reason == 8)
        #expect(choices.mode == .session && choices.till == nil)
        let counter = try self.choices("Mode=counter\nTill=a | b\n")
        #expect(counter.mode == .counter && counter.till == "a | b")
    }

    @Test func `no session is a bare console, whatever the line is`() throws {
        let choices = try choices("Command=cd /srv && A=1 app 'two words'; sh\nTill=a | b\n")
        let cage = #"cage -- /bin/sh -c '"$@"; kill "$PPID"' sh "#
        #expect(
            choices.sessionCommand(of: "ada")
                == cage + #"/bin/sh -c 'cd /srv && A=1 app '\''two words'\''; sh'"#
        )
        #expect(choices.tillCommand(of: "ada") == cage + "foot -- /bin/sh -c 'a | b'")
    }

    @Test func `an operator gets a terminal, and no one else does`() throws {
        let choices = try choices("Command=app\nOperators=anna \tgrace.hopper\n")
        let terminal = #"cage -- /bin/sh -c '"$@"; kill "$PPID"' sh foot"#
        for name in ["anna", "grace.hopper"] {
            #expect(choices.sessionCommand(of: name) == terminal && choices.tillCommand(of: name) == terminal)
        }
        for name in ["ada", "Anna", "ann", ""] {
            #expect(choices.sessionCommand(of: name).hasSuffix("sh /bin/sh -c 'app'"))
            #expect(choices.tillCommand(of: name) == nil)
        }
    }

    @Test(arguments: ["", "\n# Command=x\n", "Title=x\nMode=session\n"])
    func `a configuration that begins no session lets no one in`(text: String) {
        let error = #expect(throws: FileFault.self) { try choices(text) }
        #expect(error?.sentence == "kiosk.conf: Command= is missing")
    }

    @Test(arguments: [
        "Command", "Command=", "Passwords=maybe", "IdleSeconds=4", "IdleSeconds=x", "ReasonSeconds=61",
        "Color=red", "Mode=till", "Till=", "Operators=", "Operators=anna,ben", "Operators=anna -x",
    ])
    func `a wrong choice is named`(line: String) {
        let error = #expect(throws: FileFault.self) { try choices("\n\(line)") }
        #expect(error?.sentence.hasPrefix("kiosk.conf, line 2: ") == true)
    }

    @Test func `a file that others can change is refused, and so is one in a folder that they can change`()
        throws
    {
        var template = Array("/tmp/kiosk-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let folder = String(
            decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) },
            as: UTF8.self
        )
        let path = folder + "/badges"
        defer {
            unlink(path)
            rmdir(folder)
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        #expect(write(descriptor, "1 ada\n", 6) == 6)
        close(descriptor)
        let owner = getuid()
        #expect(try Badges(path: path, owner: owner) == badges("1 ada"))
        #expect(throws: FileFault.self) { try Badges(path: path, owner: owner + 1) }
        chmod(path, 0o664)
        #expect(throws: FileFault.self) { try Badges(path: path, owner: owner) }
        chmod(path, 0o644)
        chmod(folder, 0o770)
        let error = #expect(throws: FileFault.self) { try Badges(path: path, owner: owner) }
        #expect(error?.sentence == "\(folder): users other than root can change it")
        chmod(folder, 0o755)
        #expect(throws: FileFault.self) { try Badges(path: folder, owner: owner) }
    }

    @Test func `without badges names are typed, and without a configuration no one gets in`() throws {
        let owner = getuid()
        var template = Array("/tmp/kiosk-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let folder = String(
            decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) },
            as: UTF8.self
        )
        defer { rmdir(folder) }
        #expect(try Badges(path: folder + "/badges", owner: owner) == Badges())
        for path in [folder + "/kiosk.conf", folder + "/missing/kiosk.conf"] {
            let error = #expect(throws: FileFault.self) { try Configuration(path: path, owner: owner) }
            #expect(error?.sentence == "\(path): this file does not exist")
        }
    }
}
