// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing
import WhorlService

/// What the owner or another program has done to the TPM: each is told with its remedy, and the remedy helps.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TPMOwnerTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    @Test func `cleared, every command says so, none crashes, and the owner begins anew`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("s", "treasure", access: "biometry-any")
        #expect(try await session.run(["key", "create", "k"]).status == 0)
        #expect(try session.tpm.tool("clear", "-c", "p").status == 0)
        try Data("1234\n1234\n".utf8).write(to: URL(filePath: session.whorl.home + "/pw"))
        for line in [
            "secret get s", "secret add t --access none", "secret list", "secret delete s", "key create l",
            "key sign k", "key public k", "passcode set --passcode-fd 3", "passcode verify --passcode-fd 3",
            "passcode change --passcode-fd 3", "passcode remove --passcode-fd 3", "enroll left-thumb",
            "remove right-index-finger", "remove --all", "fingers", "evaluate --reason x",
            "evaluate --reason x --policy device-owner --passcode-fd 3", "can-evaluate", "domain-state",
            "vault provision",
        ] {
            let outcome = try await session.sh(
                "echo x | \"$W\" \(line) --json 3<pw",
                reader: "mock:touch left-thumb*6"
            )
            #expect(outcome.status == 31, "\(line): \(outcome)")
            let error = ServiceError(.chipCleared)
            #expect(outcome.errorMessage == error.message, "\(line): \(outcome)")
            #expect(outcome.errorRecovery == error.recovery, "\(line): \(outcome)")
        }
        let doctor = try await session.run(["doctor"], reader: "mock:match")
        #expect(doctor.status == 1 && doctor.out.contains(ServiceError(.chipCleared).message), "\(doctor)")

        #expect(try await session.run(["vault", "reset", "--force"]).status == 0)
        #expect(try await session.run(["vault", "provision"]).status == 0)
        try await session.enroll()
        #expect(try await session.run(["evaluate", "--reason", "x"], reader: "mock:match").status == 0)
        try await session.add("s", "anew", access: "biometry-current-set")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "anew")
    }

    @Test func `with an owner's value nothing permanent is made, and what there is goes on`() async throws {
        #expect(try session.tpm.tool("changeauth", "-c", "owner", "sesame").status == 0)
        try await session.whorl.enroll()
        let refused = try await session.run(["vault", "provision", "--json"])
        #expect(refused.status == 31 && refused.errorCode == "ownerAuthorizationNeeded", "\(refused)")
        let hint = "tpm2_changeauth -c owner -p OLD"
        #expect((refused.answer("error")?["recovery"] as? String)?.contains(hint) == true, "\(refused)")
        // Nothing was taken away by the attempt.
        #expect(try await session.run(["evaluate", "--reason", "x"], reader: "mock:match").status == 0)

        #expect(try session.tpm.tool("changeauth", "-c", "owner", "-p", "sesame").status == 0)
        #expect(try await session.run(["vault", "provision"]).status == 0)
        #expect(try await session.run(["fingers"]).status == 0)
        #expect(try await session.run(["evaluate", "--reason", "x"], reader: "mock:match").status == 0)
        #expect(try session.tpm.tool("changeauth", "-c", "owner", "sesame").status == 0)
        try await session.add("s", "treasure", access: "biometry-any")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
        try await session.enroll("left-thumb", by: .rightIndex)
        #expect(try await session.run(["evaluate", "--reason", "x"], reader: "mock:match").status == 0)
        // Another person's first finger takes a counter of its own.
        let other = try await session.run(
            ["enroll", "right-index-finger", "--profile", "other", "--json"],
            reader: "mock:touch right-thumb*6"
        )
        #expect(other.status != 0 && other.answer("result") == nil, "\(other)")
        #expect((other.answer("error")?["recovery"] as? String)?.contains(hint) == true, "\(other)")
        #expect(try session.tpm.leaks().isEmpty)
    }

    @Test func `full, the first finger is refused with the remedy, and room helps`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        var index = 0x0180_0000
        // The TPM keeps room for counters alone: that is filled last, with counters.
        for kind in [
            ["-s", "2000"], ["-s", "100"], ["-s", "8"], ["-a", "nt=counter|ownerwrite|ownerread"],
        ] {
            while try session.tpm.tool(
                arguments: ["nvdefine", "0x" + String(index, radix: 16), "-C", "o"] + kind
            ).status == 0 { index += 1 }
        }
        let full = try await session.withPasscode(
            "1234",
            run: "enroll right-index-finger --json",
            reader: "mock:touch right-index-finger*6"
        )
        #expect(full.status == 31 && full.errorCode == "chipUnavailable", "\(full)")
        let error = ServiceError(.chipFull)
        #expect(full.errorMessage == error.message && full.errorRecovery == error.recovery, "\(full)")
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)
        for last in [index - 1, index - 2] {
            #expect(try session.tpm.tool("nvundefine", "0x" + String(last, radix: 16)).status == 0)
        }
        try await session.enroll(by: .passcode("1234"))
        #expect(try await session.run(["evaluate", "--reason", "x"], reader: "mock:match").status == 0)
    }

    @Test func `locked, no passcode is compared, fingers go on, and the remedy helps`() async throws {
        let settings = ["dictionarylockout", "-s", "-n", "2", "-t", "1000", "-l", "1000"]
        #expect(try session.tpm.tool(arguments: settings).status == 0)
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("s", "treasure", access: "biometry-any-or-passcode")
        for _ in 0..<2 {
            #expect(try await session.withPasscode("0000", run: "passcode verify").status == 10)
        }
        let locked = try await session.withPasscode("1234", run: "passcode change --json")
        #expect(locked.status == 64, "one line is no new passcode: \(locked)")
        let told = try await session.withPasscode("1234", "5678", run: "passcode change --json")
        #expect(told.status == 10 && told.errorCode == "chipLockedOut", "\(told)")
        let recovery = told.answer("error")?["recovery"] as? String
        #expect(recovery?.contains("`tpm2_dictionarylockout -c`") == true, "\(told)")
        let verified = try await session.withPasscode("1234", run: "passcode verify --json")
        #expect(verified.status != 0 && verified.answer("result") == nil, "\(verified)")
        #expect(
            (verified.answer("error")?["recovery"] as? String)?.contains("`tpm2_dictionarylockout -c`")
                == true,
            "\(verified)"
        )
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
        let doctor = try await session.run(["doctor"], reader: "mock:match")
        #expect(doctor.out.contains("tpm2_dictionarylockout"), "\(doctor)")

        #expect(try session.tpm.tool("dictionarylockout", "-c").status == 0)
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)
    }
}
