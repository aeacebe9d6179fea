// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlSupport
import WhorlSystem

@testable import whorld

@Suite("The arguments of whorld")
struct ArgumentTests {
    @Test func `are values of their options, with an equals sign or as the next argument`() throws {
        let arguments = try Arguments([
            "--private", "3", "--state-dir=/home/ada/a=b", "--profile", "--reader", "--reader=mock:match",
            "--tcti=",
            "--built-in-reader", "one", "--built-in-reader=two", "--idle", "0", "--allow-virtual-readers",
        ])
        #expect(arguments.privateDescriptor == 3)
        #expect(arguments.engine.stateDirectory == "/home/ada/a=b")
        #expect(arguments.engine.profile == "--reader")
        #expect(arguments.engine.reader == "mock:match")
        #expect(arguments.engine.tpm == "")
        #expect(arguments.builtInReaders == ["one", "two"])
        #expect(arguments.idleSeconds == 0)
        #expect(arguments.allowsVirtualReaders)
        #expect(arguments.text == nil)
    }

    @Test func `leave the service's choices alone where there are none`() throws {
        let arguments = try Arguments([])
        #expect(arguments.stateRoot == "/var/lib/whorl")
        #expect(arguments.configurationFile == "/etc/whorl/whorld.conf")
        #expect(arguments.idleSeconds == nil && arguments.privateDescriptor == nil)
        #expect(!arguments.allowsVirtualReaders && !arguments.checksConfiguration)
    }

    @Test(arguments: [
        (["--private"], "Missing or invalid value: --private <descriptor>"),
        (["--private", "-1"], "Missing or invalid value: --private <descriptor>"),
        (["--private=99999999999"], "Missing or invalid value: --private <descriptor>"),
        (["--idle", "soon"], "Missing or invalid value: --idle <seconds>"),
        (["--tcti"], "Missing or invalid value: --tcti <conf>"),
        (["--check-config=yes"], "--check-config does not accept a value."),
        (["--privat", "3"], "Unknown argument: --privat"),
        (["private"], "Unknown argument: private"),
        ([""], "Unknown argument: "),
        (["--"], "Unknown argument: --"),
    ])
    func `end the program where one cannot be used`(_ given: [String], _ fault: String) {
        #expect(throws: Arguments.Fault(description: fault)) { try Arguments(given) }
    }

    @Test func `ask for the version, and for the help, which names each of them`() throws {
        #expect(try Arguments(["--version"]).text == WhorlVersion.text)
        let help = try #require(try Arguments(["--help"]).text)
        let options = [
            "private", "state-root", "config", "check-config", "idle", "tcti", "elevated", "state-dir",
            "profile",
            "reader",
            "allow-virtual-readers", "built-in-reader", "version", "help",
        ]
        for option in options { #expect(help.contains("\n  --\(option) "), "\(option)") }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
