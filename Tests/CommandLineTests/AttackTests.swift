// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// The attacks of `Docs/Security.md` that are made with the program itself; the TPM is swtpm.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct AttackTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    // A2

    // Docs/Security.md: A2c
    @Test func `whoever knows the passcode and adds a finger is seen, and kills what the set opens`()
        async throws
    {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("s", "treasure", access: "biometry-current-set")
        let before = try await session.run(["domain-state"]).out.trimmingCharacters(
            in: .whitespacesAndNewlines
        )
        try await session.enroll("left-thumb", by: .passcode("1234"))

        let compared = try await session.run(["domain-state", "--since", before, "--json"]).answer("result")
        #expect(compared?["changed"] as? Bool == true)
        #expect(compared?["added"] as? [String] == ["left-thumb"])
        let mine = try await session.run(["secret", "get", "s"], reader: "mock:touch left-thumb")
        #expect(mine.status == 33 && mine.out == "", "\(mine)")
        // Removing it hides nothing and revives nothing, also with the passcode.
        #expect(try await session.run(["remove", "left-thumb"], reader: "mock:match").status == 0)
        let after = try await session.run(["domain-state", "--since", before, "--json"]).answer("result")
        #expect(after?["changed"] as? Bool == true)
        let get = "secret get s --timeout 5"
        let again = try await session.withPasscode("1234", run: get, reader: "mock:hang")
        #expect(again.status == 13 && again.out == "", "\(again)")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").status == 33)
    }

    // A5

    // Docs/Security.md: A5
    @Test func `killed at every comparison, and side by side, a guesser of passcodes has five tries`()
        async throws
    {
        var guesses = try await guess(in: session)
        // After the fifth no guess is compared for a minute, of which a busy machine may take too much until the last.
        for _ in 0..<20 where guesses.duration > .seconds(50) {
            guesses = try await guess(in: VaultSession())
        }
        let outcomes = guesses.sideBySide
        #expect(outcomes.allSatisfy { $0.status == 10 }, "\(outcomes)")
        #expect(outcomes.allSatisfy { $0.errorCode == "authenticationFailed" }, "\(outcomes)")
        #expect(outcomes.count { $0.out.contains("Wrong passcode.") } == 2, "\(outcomes)")
        #expect(outcomes.count { $0.out.contains("Too many wrong passcodes") } == 6, "\(outcomes)")
        let right = guesses.right
        #expect(right.status == 10 && right.out.contains("Too many wrong passcodes"), "\(right)")
        #expect(guesses.counted == 5)
    }

    /// What became of guesses.
    private struct Guesses {
        /// Eight wrong ones at once.
        let sideBySide: [WhorlProgram.Outcome]
        /// The right one after them.
        let right: WhorlProgram.Outcome
        /// How many wrong ones the chip has counted.
        let counted: Int?
        /// From before the eight to the end.
        let duration: Duration
    }

    /// Kills the program at three comparisons, and then has it compare eight guesses at once.
    private func guess(in session: VaultSession) async throws -> Guesses {
        // More than Whorl's five, and none is forgotten in time: the chip's count shows what it compared.
        let limits = ["dictionarylockout", "-s", "-n", "100", "-t", "100000", "-l", "1000"]
        #expect(try session.tpm.tool(arguments: limits).status == 0)
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        // The chip notes once that passcodes are in use, and has the first command repeated.
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)

        let bus = try Interposer(inFrontOf: session.tpm)
        // TPM2_HMAC is the comparison; the program never hears that the guess was wrong.
        bus.decide { $1 == 0x155 ? .killSender(commandIsDone: true) : .pass }
        for number in 1...3 {
            let killed = try await verify("0000", in: session, through: bus.address)
            #expect(killed.hasLostItsEngine && killed.errorCode == "serviceUnavailable", "\(killed)")
            #expect(try wrongTriesOfTheChip(session) == number)
            // As a resource manager does for a program that has ended.
            try session.tpm.flushLeaks()
        }

        let start = ContinuousClock.now
        let outcomes = try await withThrowingTaskGroup(of: WhorlProgram.Outcome.self) { group in
            for number in 1...8 { group.addTask { try await verify("000\(number)", in: session) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let right = try await verify("1234", in: session)
        return Guesses(
            sideBySide: outcomes,
            right: right,
            counted: try wrongTriesOfTheChip(session),
            duration: ContinuousClock.now - start
        )
    }

    private func verify(
        _ passcode: String,
        in session: VaultSession,
        through address: String? = nil
    ) async throws -> WhorlProgram.Outcome {
        // The shell becomes the program, so that it is the program that is killed.
        try await session.sh(
            "echo \(passcode) > \(passcode); exec \"$W\" passcode verify --json --passcode-fd 3 3<\(passcode)",
            environment: ["WHORL_TCTI": address ?? session.tpm.address]
        )
    }

    /// How many wrong authorization values the chip itself has counted (TPM_PT_LOCKOUT_COUNTER).
    private func wrongTriesOfTheChip(_ session: VaultSession) throws -> Int? {
        let properties = try session.tpm.tool("getcap", "properties-variable").output
        let count = try #require(properties.firstMatch(of: /TPM2_PT_LOCKOUT_COUNTER: 0x([0-9A-Fa-f]+)/))
        return Int(count.1, radix: 16)
    }

    // A9

    // Docs/Security.md: A9a, A9b
    @Test(.enabled(if: geteuid() == 0, "needs root, to start a program that has more rights than its caller"))
    func `a privileged program takes neither a mock nor a simulated TPM from its caller`() async throws {
        let privileged = session.whorl.home + "/privileged"
        // Its child has more rights than the caller too.
        let prepared = try await session.sh(
            "chmod 755 . && cp \"$W\" '\(privileged)' && chmod 4755 '\(privileged)' && cp \"${W%/*}/whorld\" ."
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
        // tpm2-tss would write what it does to a file that the caller names. Its loader finds no such library, and tells it.
        let log = session.whorl.home + "/log"
        let logging = ["TSS2_LOG": "all+trace", "TSS2_LOGFILE": log]
        let loader = "secret add s --access none \(common) --tcti tabrmd:bus_name=no.such.name"
        let traced = try await session.sh(
            "printf x | \(asOther) '\(privileged)' \(loader)",
            environment: logging
        )
        #expect(traced.status == 31, "\(traced)")
        #expect(!FileManager.default.fileExists(atPath: log) && !traced.err.contains("tcti"), "\(traced)")
        let recorded = try await session.sh(
            "printf x | \(asOther) '\(privileged)' secret add s --access none \(common) --tcti pcap:device:/dev/tpmrm0",
            environment: ["TCTI_PCAP_FILE": log]
        )
        #expect(
            recorded.status == 31 && recorded.out.contains("recorded TPMs are not allowed"),
            "\(recorded)"
        )
        #expect(!FileManager.default.fileExists(atPath: log))
        // The same program with its caller's rights alone takes all of them.
        let own = try await session.sh("printf x | '\(privileged)' \(loader)", environment: logging)
        #expect(own.status == 31 && FileManager.default.fileExists(atPath: log), "\(own)")
        let plain = try await session.sh("'\(privileged)' devices \(common)", environment: environment)
        #expect(plain.out.contains("mock"), "\(plain)")
    }

    // Docs/Security.md: A9a
    /// The child, which has none of the capabilities, sees no sign of them.
    @Test(.enabled(if: geteuid() == 0, "needs root, to start a program that has more rights than its caller"))
    func `a program with capabilities takes neither a mock nor a simulated TPM from its caller`() async throws
    {
        let privileged = session.whorl.home + "/capable"
        // cap_net_raw, permitted and effective (VFS_CAP_REVISION_2).
        let capable =
            "os.setxattr(sys.argv[1], 'security.capability', struct.pack('<5I', 0x2000001, 1 << 13, 0, 0, 0))"
        let prepared = try await session.sh(
            """
            mkdir -m 777 other && chmod 755 . && cp "$W" '\(privileged)' && cp "${W%/*}/whorld" . &&
            /usr/bin/python3 -c "import os, struct, sys; \(capable)" '\(privileged)'
            """
        )
        #expect(prepared.status == 0, "\(prepared)")
        let asOther = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        let common = "--state-dir '\(session.whorl.home)/other/state' --json"
        let reader = try await session.sh("\(asOther) '\(privileged)' devices \(common) --reader mock:match")
        #expect(reader.status == 64 && reader.errorCode == "readerNotChosen", "\(reader)")
        let chip = try await session.sh(
            "printf x | \(asOther) '\(privileged)' secret add s --access none \(common) --tcti \(session.tpm.address)"
        )
        #expect(chip.status == 31 && chip.errorCode == "noChip", "\(chip)")
        // Without them, the same program takes both.
        let own = try await session.sh(
            "rm '\(privileged)' && cp \"$W\" '\(privileged)' && "
                + "\(asOther) '\(privileged)' devices \(common) --reader mock:match"
        )
        #expect(own.out.contains("mock"), "\(own)")
    }
}
