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
