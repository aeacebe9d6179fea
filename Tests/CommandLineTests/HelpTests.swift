// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

struct HelpTests {
    private static let verbs = [
        ["devices"], ["devices", "capture"], ["devices", "exercise"], ["doctor"], ["enroll"], ["fingers"],
        ["remove"],
        ["can-evaluate"], ["evaluate"], ["domain-state"], ["biometry"], ["log"], ["agent"], ["pam"],
    ]

    @Test(arguments: verbs)
    func `each command's help teaches with an example`(verb: [String]) async throws {
        let outcome = try await WhorlProgram().run(verb + ["--help"])
        #expect(outcome.status == 0 && outcome.err == "")
        #expect(outcome.out.contains("USAGE: whorl \(verb.joined(separator: " "))"))
        #expect(outcome.out.contains("Example") && outcome.out.contains("  whorl \(verb[0])"))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions come for each shell`(shell: String) async throws {
        let outcome = try await WhorlProgram().run(["--generate-completion-script", shell])
        #expect(outcome.status == 0)
        #expect(outcome.out.contains("right-index-finger"))
    }

    @Test func `the commands are listed by task, on one screen`() async throws {
        let outcome = try await WhorlProgram().run(["--help"])
        #expect(outcome.status == 0 && outcome.err == "")
        #expect(outcome.lines.count <= 40)
        #expect(outcome.lines.allSatisfy { $0.count <= 80 }, "\(outcome.lines.filter { $0.count > 80 })")
        let tasks = ["Set up:", "Authenticate:", "Secrets and keys:", "System:", "Servers:"]
        for task in tasks { #expect(outcome.lines.contains { $0.hasPrefix(task + "  ") }, "\(task)") }
        let listed = outcome.lines.filter { $0.hasPrefix("  ") }.compactMap { $0.split(separator: " ").first }
        #expect(listed.count == Set(listed).count && listed.contains("import-fprintd"))
        #expect(try await WhorlProgram().run(["help"]).out == outcome.out)
        #expect(try await WhorlProgram().run(["-h"]).out == outcome.out)
    }

    @Test func `the options of every command are in one place`() async throws {
        let common = try await WhorlProgram().run(["help", "options"])
        #expect(common.status == 0)
        let evaluate = try await WhorlProgram().run(["help", "evaluate"])
        #expect(evaluate.lines.count <= 30, "\(evaluate.out)")
        for option in [
            "--state-dir", "--profile", "--reader", "--tcti", "--json", "--verbose", "--timeout", "--version",
        ] {
            #expect(common.lines.contains { $0.hasPrefix("  \(option) ") }, "\(option)")
            #expect(!evaluate.lines.contains { $0.hasPrefix("  \(option) ") }, "\(option)")
        }
        #expect(evaluate.out.contains("  --fallback-title") && evaluate.out.contains("whorl help options"))
    }

    @Test func `without a command the state is shown, and the next step`() async throws {
        let whorl = try WhorlProgram()
        /// Runs it again where the machine was too busy for an answer in time.
        func state(_ reader: String) async throws -> WhorlProgram.Outcome {
            var outcome = try await whorl.run([], reader: reader)
            for _ in 0..<100 where outcome.out.contains("no answer yet") {
                outcome = try await whorl.run([], reader: reader)
            }
            return outcome
        }
        let none = try await state("mock:connected=no,match")
        #expect(none.status == 0 && none.lines.first == "Reader:   none found", "\(none)")
        #expect(none.out.contains("Next: whorl doctor "))
        let new = try await state("mock:match")
        #expect(new.lines.prefix(2) == ["Reader:   Mock reader", "Fingers:  none enrolled"], "\(new)")
        #expect(new.lines.dropFirst(2).prefix(2).map { $0.prefix(9) } == ["Service: ", "TPM:     "])
        #expect(new.out.contains("Next: whorl enroll right-index-finger "))
        #expect(!FileManager.default.fileExists(atPath: whorl.state), "something was created")
        try await whorl.enroll()
        let enrolled = try await state("mock:match")
        #expect(enrolled.out.contains("Fingers:  right index finger\n"), "\(enrolled)")
        #expect(enrolled.out.contains("Next: whorl evaluate "))
        let json = try await whorl.run(["--json"], reader: "mock:match")
        #expect(json.status == 0 && json.answer("result")?["next"] is String, "\(json)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a TPM that does not answer does not keep the state waiting`() async throws {
        let whorl = try WhorlProgram()
        let silent = try SilentSocket()
        let outcome = try await whorl.run(
            ["--tcti", "swtpm:host=127.0.0.1,port=\(silent.port)"],
            reader: "mock:match"
        )
        #expect(outcome.status == 0 && outcome.lines.contains { $0.hasPrefix("TPM:  ") }, "\(outcome)")
    }
}

/// A TCP port that takes connections and never answers.
private final class SilentSocket {
    let port: UInt16
    private let descriptor: CInt

    init() throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(isListening)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
