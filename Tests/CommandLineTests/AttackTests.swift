// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// The attacks of `Docs/Security.md` that are made with the program itself; the TPM is swtpm.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct AttackTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    // A2

    @Test func `whoever knows the passcode and adds a finger is seen, and kills what the set opens`()
        async throws
    {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-current-set")
        let before = try await session.run(["domain-state"]).out.trimmingCharacters(
            in: .whitespacesAndNewlines
        )
        // He opens what the passcode opens, and lets his own finger in.
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)
        try await session.enroll("left-thumb")

        let compared = try await session.run(["domain-state", "--since", before, "--json"]).answer("result")
        #expect(compared?["changed"] as? Bool == true)
        #expect(compared?["added"] as? [String] == ["left-thumb"])
        let mine = try await session.run(["secret", "get", "s"], reader: "mock:touch left-thumb")
        #expect(mine.status == 33 && mine.out == "", "\(mine)")
        // Removing it hides nothing and revives nothing, also with the passcode.
        #expect(try await session.run(["remove", "left-thumb"], reader: "mock:match").status == 0)
        let after = try await session.run(["domain-state", "--since", before, "--json"]).answer("result")
        #expect(after?["changed"] as? Bool == true)
        let again = try await session.withPasscode("1234", run: "secret get s", reader: "mock:hang")
        #expect(again.status != 0 && again.out == "", "\(again)")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").status == 33)
    }

    // A5

    @Test func `killed at every comparison, and side by side, a guesser of passcodes has five tries`()
        async throws
    {
        // More than Whorl's five, so that the chip's count shows what it was asked.
        let limits = try session.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000")
        #expect(limits.status == 0)
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        let interposer = try Interposer(inFrontOf: session.tpm)
        let pid = session.whorl.home + "/pid"
        // Killed when the chip is asked to compare (TPM2_HMAC), before it can say that the guess was wrong.
        interposer.decide { _, code in
            guard code == 0x155 else { return .pass }
            let text = (try? String(contentsOfFile: pid, encoding: .utf8)) ?? ""
            if let number = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) {
                kill(number, SIGKILL)
            }
            return .cutAnswer
        }
        let guess =
            "echo 0000 > guess; echo $$ > '\(pid)'; exec \"$W\" passcode verify --passcode-fd 3 3<guess"
        for _ in 0..<5 {
            let killed = try await session.sh(
                "sh -c '\(guess.replacingOccurrences(of: "'", with: "'\\''"))'",
                environment: ["WHORL_TCTI": interposer.address]
            )
            #expect(killed.status == 137 || killed.status == -SIGKILL, "\(killed)")
            try await session.flush()
        }
        #expect(interposer.heard.count { $0.code == 0x155 } == 5)
        // Neither the next one, nor eight at once, nor the right one, is compared.
        let parallel = try await session.sh(
            """
            echo 1234 > right
            for i in 1 2 3 4 5 6 7 8; do "$W" passcode verify --json --passcode-fd 3 3<right & done; wait
            """
        )
        #expect(parallel.out.components(separatedBy: "passcodeThrottled").count == 9, "\(parallel)")
    }

    // A9

    @Test(.enabled(if: geteuid() == 0, "needs root, to start a program that has more rights than its caller"))
    func `a privileged program takes neither a mock nor a simulated TPM from its caller`() async throws {
        let privileged = session.whorl.home + "/privileged"
        let prepared = try await session.sh(
            "chmod 755 . && cp \"$W\" '\(privileged)' && chmod 4755 '\(privileged)'"
        )
        #expect(prepared.status == 0, "\(prepared)")
        let asOther = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        let common = "--state-dir '\(session.whorl.home)/other' --json"
        let environment = ["WHORL_READER": "mock:match"]
        let reader = try await session.sh(
            "\(asOther) '\(privileged)' devices \(common) --reader mock:match",
            environment: environment
        )
        #expect(reader.status == 64 && reader.errorCode == "readerNotChosen", "\(reader)")
        let byVariable = try await session.sh(
            "\(asOther) '\(privileged)' devices \(common)",
            environment: environment
        )
        #expect(!byVariable.out.contains("mock"), "\(byVariable)")
        let chip = try await session.sh(
            "printf x | \(asOther) '\(privileged)' secret add s --access none \(common) --tcti \(session.tpm.address)"
        )
        #expect(chip.status == 31 && chip.errorCode == "noChip", "\(chip)")
        #expect(try session.tpm.leaks().isEmpty)
        // The same program with its caller's rights alone takes both.
        let plain = try await session.sh("'\(privileged)' devices \(common)", environment: environment)
        #expect(plain.out.contains("mock"), "\(plain)")
    }
}

extension VaultSession {
    /// What a killed program left in the slots of a chip without a resource manager.
    fileprivate func flush() async throws {
        for kind in ["-t", "-l", "-s"] { _ = try tpm.tool("flushcontext", kind) }
    }
}
