// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlRemote
import WhorlService
import WhorlSupport

@testable import WhorlCallers

@Suite("The service's configuration")
struct ConfigurationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func parse(_ text: String) throws(ConfigurationFault) -> ReadConfiguration {
        try ServiceConfiguration.parse(Array(text.utf8), "whorld.conf")
    }

    private func fault(_ text: String) -> String? {
        do throws(ConfigurationFault) {
            _ = try parse(text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a file that is missing or empty leaves every default`() throws {
        let missing = try ServiceConfiguration.read("/nowhere/whorld.conf")
        #expect(!missing.hasFile && missing.configuration == ServiceConfiguration())
        for text in ["", "\n# words\n", "[Prompt]\n"] {
            let read = try parse(text)
            #expect(read.configuration == ServiceConfiguration() && read.warnings.isEmpty && read.hasFile)
        }
    }

    @Test func `each key changes what it is for`() throws {
        let read = try parse(
            """
            [Prompt]
            Agent = required
            [Sessions]
            Touch=local
            [Service]
            IdleSeconds=0
            [Reader]
            Id=goodix-0123
            [Timeout]
            LongestSeconds=45
            [Tries]
            Fingers=3
            LockMinutes=60
            [Touch]
            UnusedSeconds=60
            KeptSeconds=600
            Match=on-chip
            Fingers=2
            Passcode=yes
            [Identify]
            People=12
            StrangerOneIn=50
            """
        )
        var wanted = ServiceConfiguration()
        wanted.agent = .required
        wanted.touch = .localOnly
        wanted.idleSeconds = 0
        wanted.reader = "goodix-0123"
        wanted.longestSeconds = 45
        wanted.tries = 3
        wanted.lockMinutes = 60
        wanted.unusedSeconds = 60
        wanted.wholeSeconds = 600
        wanted.groups.mostPeople = 12
        wanted.groups.strangerOneIn = 50
        wanted.strength = TouchStrength(isMatchedOnChip: true, hasTwoFingers: true, hasPasscode: true)
        #expect(wanted.proofLimits == ProofLimits(unusedSeconds: 60, wholeSeconds: 600))
        #expect(wanted.attemptRules == AttemptRules(tries: 3, firstLockMinutes: 60))
        #expect(read.configuration == wanted && read.warnings.isEmpty)
    }

    @Test(arguments: [
        "[Prompt]\nAgent=Required", "[Prompt]\nAgent=", "[Sessions]\nTouch=everywhere",
        "[Service]\nIdleSeconds=-1", "[Service]\nIdleSeconds=+3", "[Service]\nIdleSeconds=86401",
        "[Service]\nIdleSeconds=99999999999999999999", "[Service]\nIdleSeconds=٣",
        "[Timeout]\nLongestSeconds=9", "[Timeout]\nLongestSeconds=1e3", "[Tries]\nFingers=0",
        "[Tries]\nFingers=6",
        "[Tries]\nLockMinutes=4", "[Tries]\nLockMinutes=1441", "[Reader]\nId=",
        "[Touch]\nMatch=chip", "[Touch]\nUnusedSeconds=301", "[Touch]\nKeptSeconds=3601",
        "[Touch]\nPasscode=true", "[Reader]\nId=mock:then=match", "[Reader]\nId=mock",
        "[Reader]\nId=a b",
    ])
    func `a value that is not allowed is refused with its key, itself and what is allowed`(text: String)
        throws
    {
        let words = try #require(fault(text))
        let lines = text.split(separator: "\n")
        let key = lines[1].prefix { $0 != "=" }
        let setting = try #require(Setting.all.first { $0.key == key })
        #expect(
            words.hasPrefix("whorld.conf: invalid value “") && words.contains("” for \(lines[0]) \(key). "),
            "\(words)"
        )
        #expect(words.contains(setting.allowed), "\(words)")
    }

    @Test func `text that is no key file is refused, and the line is named`() throws {
        let texts = [
            "Agent=never": "does not start with a group", "[Prompt]\nAgent": "“Agent”",
            "[Prompt\nAgent=never": "“[Prompt”",
        ]
        for (text, reason) in texts {
            let words = try #require(fault(text))
            #expect(words.hasPrefix("whorld.conf: ") && words.contains(reason), "\(words)")
        }
        #expect(throws: ConfigurationFault.self) {
            try ServiceConfiguration.parse([0x5B, 0xFF, 0x5D], "x")
        }
        #expect(throws: ConfigurationFault.self) {
            try ServiceConfiguration.parse(Array("[Prompt]\nAgent=never\0".utf8), "x")
        }
    }

    @Test func `unknown groups and keys are told and change nothing`() throws {
        let read = try parse("[Prompt]\nAgents=never\n[Prompts]\nAgent=never\n")
        #expect(read.configuration == ServiceConfiguration())
        #expect(
            read.warnings == [
                "whorld.conf: unknown section [Prompts], ignored.",
                "whorld.conf: unknown setting [Prompt] Agents, ignored.",
            ]
        )
    }

    @Test func `a file that others may write, is too large or is none is refused, each with its reason`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-conf-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "whorld.conf").path
        func fault() -> String {
            do throws(ConfigurationFault) {
                _ = try ServiceConfiguration.read(path)
                return ""
            } catch {
                return error.description
            }
        }
        try "[Prompt]\nAgent=never\n".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o666)
        #expect(fault().contains("Users other than root"))
        chmod(path, 0o644)
        #expect(try ServiceConfiguration.read(path).configuration.agent == .never)
        try String(repeating: "#", count: ServiceConfiguration.largest + 1)
            .write(toFile: path, atomically: false, encoding: .utf8)
        #expect(fault().contains("more than"))
        try FileManager.default.removeItem(atPath: path)
        mkfifo(path, 0o644)
        #expect(fault().contains("not a regular file"))
    }

    @Test func `the service does not start with a value that is not allowed, and says why`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "whorld-\(UUID()).conf").path
        try "[Prompt]\nAgent=sometimes\n".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o644)
        defer { unlink(path) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(ThisProcess.folder) + "/whorld")
        process.arguments = ["--config", path]
        let words = Pipe()
        process.standardError = words
        try process.run()
        let said = words.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 78)
        #expect(
            String(decoding: said, as: UTF8.self)
                == "<3>whorld: error: \(path): invalid value “sometimes” for [Prompt] Agent. Allowed: required, preferred, never.\n"
        )
    }

    @Test func `the sample names every key, and its lines are the defaults`() throws {
        let sample = try String(
            contentsOf: Self.root.appending(path: "systemd/whorld.conf"),
            encoding: .utf8
        )
        #expect(try parse(sample).configuration == ServiceConfiguration())
        #expect(try parse(sample).warnings.isEmpty)
        let keys = sample.matches(of: /(?m)^#([A-Za-z]+)=(.*)$/).map { "\($0.1)=\($0.2)" }
        #expect(keys == Setting.all.map { "\($0.key)=\($0.standard)" })
        // A default of none cannot be written.
        let written = sample.replacing(/(?m)^#([A-Za-z]+=.+)$/) { $0.1 }
        #expect(try parse(written).configuration == ServiceConfiguration())
        #expect(
            Set(sample.matches(of: /(?m)^\[(.+)\]$/).map { String($0.1) }) == Set(Setting.all.map(\.group))
        )
    }

    @Test func `the documentation has a row for every key, with what is allowed and the default`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/Service.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `[") }
        #expect(rows.count == Setting.all.count)
        for setting in Setting.all {
            let standard = setting.standard.isEmpty ? "none" : "`\(setting.standard)`"
            let start = "| `[\(setting.group)] \(setting.key)` | \(setting.allowed) | \(standard) | "
            #expect(rows.contains { $0.hasPrefix(start) }, "\(start)")
        }
    }
}
