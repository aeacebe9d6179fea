// SPDX-License-Identifier: Apache-2.0

import Foundation
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

    @Test func `without a command the help is shown`() async throws {
        let outcome = try await WhorlProgram().run([])
        #expect(outcome.status == 0)
        #expect(outcome.out.contains("SUBCOMMANDS:"))
    }
}
