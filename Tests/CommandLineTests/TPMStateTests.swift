// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing
import WhorlService

/// The state directory with a TPM, without one, and with one that is gone.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TPMStateTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    private var files: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: session.whorl.state)) }
    }

    @Test func `without a TPM, what needs one is refused with 31, and nothing is made`()
        async throws
    {
        let none = ["WHORL_TCTI": "none"]
        for line in [
            "printf x | \"$W\" secret add s --access none", "\"$W\" secret get s",
            "\"$W\" key create k --access none", "printf x | \"$W\" key sign k",
            "\"$W\" passcode set </dev/null",
            "\"$W\" vault provision",
        ] {
            let outcome = try await session.sh(line + " | cat; exit 0", environment: none)
            let error = ServiceError(.noChip, "switched off by the address none")
            #expect(outcome.err.contains(error.errorLine), "\(line)")
            let status = try await session.sh(line, environment: none)
            #expect(status.status == 31, "\(line): \(status)")
        }
        #expect(!FileManager.default.fileExists(atPath: session.whorl.state))
    }

    @Test(arguments: ["swtpm:path=/nowhere/s", "swtpm:port=many", "mssim:host=localhost,port=1"])
    func `a TPM that is named and fails is an error, and nothing is said to have answered`(
        address: String
    ) async throws {
        let named = ["WHORL_TCTI": address]
        let reader = "mock:then=match"
        for verb in [["enroll", "left-thumb"], ["vault", "provision"], ["secret", "get", "s"]] {
            let outcome = try await session.run(verb, reader: reader, environment: named)
            #expect(outcome.status == 31, "\(outcome)")
            let first = outcome.err.split(separator: "\n").first ?? ""
            #expect(first.hasPrefix("whorl: error: "), "\(outcome)")
            #expect(first.contains("(\(address): tcti:"), "\(outcome)")
            #expect(outcome.err.contains(ServiceError(.noChip, address).hintLine), "\(outcome)")
            #expect(!outcome.err.contains("answered"), "\(outcome)")
            let json = try await session.run(verb + ["--json"], reader: reader, environment: named)
            #expect(json.status == 31 && json.tpm == nil, "\(json)")
            #expect(json.answer("error")?["readerKind"] == nil, "\(json)")
        }
        #expect(!FileManager.default.fileExists(atPath: session.whorl.state + "/state.key"))
        let doctor = try await session.run(["doctor"], reader: reader, environment: named)
        #expect(doctor.status == 1, "\(doctor)")
        #expect(doctor.lines.contains { $0.hasPrefix("✗ TPM: ") && $0.contains(address) }, "\(doctor)")
        #expect(!doctor.err.contains("simulated TPM"), "\(doctor)")
    }

    @Test func `an empty lockout authorization is a warning with its remedy, and a set one is none`()
        async throws
    {
        let empty = try await session.run(["doctor"], reader: "mock:match")
        let line = try #require(
            empty.lines.firstIndex { $0.hasPrefix("! TPM lockout authorization: It is empty") }
        )
        #expect(
            empty.lines[line + 1] == "  → tpm2_changeauth -c lockout NEW" && empty.status == 0,
            "\(empty)"
        )
        #expect(try session.tpm.tool("changeauth", "-c", "lockout", "new").status == 0)
        let set = try await session.run(["doctor"], reader: "mock:match")
        #expect(set.lines.contains("✓ TPM lockout authorization: It is set."), "\(set)")
    }

    @Test func `a TPM that counts no wrong passcode is a warning, and never in order`() async throws {
        let counting = try await session.run(["doctor"], reader: "mock:match")
        #expect(counting.lines.contains { $0.hasPrefix("✓ TPM lockout: 0 of ") }, "\(counting)")
        let off = ["--setup-parameters", "--max-tries=5", "--recovery-time=0", "--lockout-recovery-time=0"]
        #expect(try session.tpm.tool(arguments: ["dictionarylockout"] + off).status == 0)
        let doctor = try await session.run(["doctor"], reader: "mock:match")
        #expect(
            doctor.lines.contains { $0.hasPrefix("! TPM lockout: ") && $0.contains("is off") },
            "\(doctor)"
        )
    }

    @Test func `without a TPM what needs none is answered`() async throws {
        let none = ["WHORL_TCTI": "none"]
        func check() async throws {
            #expect(
                try await session.run(["secret", "list"], environment: none).out == "No secrets.\n"
            )
            let keys = try await session.run(["key", "list", "--json"], environment: none)
            #expect(
                keys.status == 0 && (keys.answer("result")?["keys"] as? [Any])?.isEmpty == true,
                "\(keys)"
            )
            for verb in [["secret", "delete", "s"], ["key", "delete", "k"], ["key", "public", "k"]] {
                #expect(try await session.run(verb, environment: none).status == 32)
            }
        }
        try await check()
        #expect(!FileManager.default.fileExists(atPath: session.whorl.state))
        let enrolled = try await session.run(
            ["enroll", "right-index"],
            reader: "mock:then=match",
            environment: none
        )
        #expect(enrolled.status == 0)
        try await check()
    }

    @Test func `without a TPM evaluations work, and every result says so`() async throws {
        let none = ["WHORL_TCTI": "none"]
        let enrolled = try await session.run(
            ["enroll", "right-index", "--json"],
            reader: "mock:then=match",
            environment: none
        )
        #expect(enrolled.status == 0 && enrolled.isHardware == false && enrolled.tpm == nil)
        #expect(try files.contains("state.key"))
        for verb in [
            ["can-evaluate"], ["evaluate", "--reason", "r"], ["fingers"], ["log"], ["devices"], ["doctor"],
        ] {
            // The TPM that is there is not asked: the directory does not need it.
            let outcome = try await session.run(verb + ["--json"], reader: "mock:match")
            #expect(outcome.status == 0 && outcome.isHardware == false, "\(outcome)")
            if verb != ["doctor"] { #expect(outcome.tpm == nil, "\(outcome)") }
        }
        let doctor = try await session.run(["doctor"], reader: "mock:match", environment: none)
        #expect(doctor.out.contains("not by a TPM"))
    }

    @Test func `a new directory gets its key from the TPM, an old one when its owner says so`()
        async throws
    {
        try await session.enroll()
        #expect(try files.isSuperset(of: ["state.sealed", "vault.authority"]))
        #expect(try !files.contains("state.key"))
        let reset = try await session.run(["vault", "reset", "--force", "--json"])
        #expect(reset.answer("result")?["fingers"] as? String == "kept", "\(reset)")
        #expect(try files.contains("state.key"))
        let before = try await session.run(["domain-state"]).out
        #expect(try await session.run(["vault", "provision"]).status == 0)
        #expect(try !files.contains("state.key"))
        #expect(try await session.run(["domain-state"]).out == before)
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        let status = try await session.run(["vault", "status", "--json"])
        #expect(status.status == 0 && status.answer("result")?["stateKey"] as? String == "sealed")
        #expect(status.answer("result")?["sameChip"] as? Bool == true)
    }

    @Test func `while the TPM is gone everything says so, and works when it is back`() async throws {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-any")
        session.tpm.kill()
        for verb in [["can-evaluate"], ["evaluate", "--reason", "r"], ["secret", "get", "s"], ["fingers"]] {
            let outcome = try await session.run(verb + ["--json"], reader: "mock:match")
            #expect(outcome.status == 31 && !outcome.out.contains("\"result\""), "\(outcome)")
        }
        #expect(try await session.run(["doctor"], reader: "mock:match").status == 1)
        try session.tpm.restart(keepingState: true)
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
    }

    @Test func `a cleared TPM is told as such; the owner begins anew`() async throws {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-any")
        try session.tpm.restart(keepingState: false)
        let refused = try await session.run(["evaluate", "--reason", "r", "--json"], reader: "mock:match")
        #expect(refused.status == 31 && refused.errorCode == "chipUnavailable", "\(refused)")
        #expect(refused.errorMessage == ServiceError(.chipCleared).message, "\(refused)")
        #expect(try await session.run(["vault", "status"]).status == 1)
        let reset = try await session.run(["vault", "reset", "--force", "--json"])
        #expect(reset.answer("result")?["fingers"] as? String == "lost", "\(reset)")
        try await session.enroll()
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").status == 32)
    }

    // Docs/Security.md: A4
    @Test func `yesterday's database is noticed, and removing all fingers makes it sound again`() async throws
    {
        try await session.enroll()
        let path = session.whorl.state + "/whorl.sqlite"
        let old = try Data(contentsOf: URL(filePath: path))
        try await session.enroll("left-thumb", by: .rightIndex)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try old.write(to: URL(filePath: path))
        let outcome = try await session.run(["evaluate", "--reason", "r", "--json"], reader: "mock:match")
        #expect(outcome.status == 30 && outcome.errorCode == "enrollmentRolledBack", "\(outcome)")
        #expect(try await session.run(["remove", "--all"], reader: "mock:match").status == 0)
        try await session.enroll()
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
    }

    // Docs/Security.md: A4
    @Test func `yesterday's database is noticed also where the counter and its row were taken away`()
        async throws
    {
        try await session.enroll()
        try await session.enroll("left-thumb", by: .rightIndex)
        let path = session.whorl.state + "/whorl.sqlite"
        let old = try Data(contentsOf: URL(filePath: path))
        #expect(try await session.run(["remove", "left-thumb"], reader: "mock:match").status == 0)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try old.write(to: URL(filePath: path))
        let edit = try await session.sh("sqlite3 \(path) 'DELETE FROM vault_counters'")
        #expect(edit.status == 0, "\(edit)")
        for index in try session.tpm.handles(from: 0x0180_5701) where index >> 8 == 0x01_8057 {
            #expect(try session.tpm.tool("nvundefine", "0x" + String(index, radix: 16)).status == 0)
        }
        let touch = ["evaluate", "--reason", "r", "--json"]
        for _ in 0..<2 {
            let outcome = try await session.run(touch, reader: "mock:touch left-thumb")
            #expect(outcome.status == 30 && outcome.errorCode == "enrollmentRolledBack", "\(outcome)")
        }
        // A reset is the owner's word that the fingers are right as they are.
        #expect(try await session.run(["vault", "reset", "--force"]).status == 0)
        #expect(try await session.run(touch, reader: "mock:touch left-thumb").status == 0)
        #expect(try await session.run(["vault", "provision"]).status == 0)
        #expect(try await session.run(touch, reader: "mock:touch left-thumb").status == 0)
    }

    @Test func `a counter that was deleted is noticed; removing all fingers begins a new one`()
        async throws
    {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-current-set")
        let indices = try session.tpm.handles(from: 0x0180_5701).filter { $0 >> 8 == 0x01_8057 }
        #expect(indices.count == 1)
        for index in indices {
            let undefined = try session.tpm.tool("nvundefine", "0x" + String(index, radix: 16))
            #expect(undefined.status == 0, "\(undefined)")
        }
        let outcome = try await session.run(["evaluate", "--reason", "r"], reader: "mock:match")
        #expect(outcome.status == 30, "\(outcome)")
        let removed = try await session.run(["remove", "--all"], reader: "mock:match")
        #expect(removed.status == 0, "\(removed)")
        try await session.enroll()
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").status == 33)
    }

    @Test func `a TPM that cannot be named is a mistake of the command`() async throws {
        for text in ["swtpm", "libtss2-evil.so", "/dev/tpmrm0", "pcap:none"] {
            let option = try await session.run(["fingers", "--tcti", text, "--json"])
            #expect(option.status == 64 && option.errorCode == "usage", "\(option)")
            let variable = try await session.run(["fingers"], environment: ["WHORL_TCTI": text])
            #expect(variable.status == 64, "\(variable)")
        }
    }

    @Test func `the TPM is asked only for what needs it`() async throws {
        func commands(_ arguments: [String]) async throws -> Int {
            let file = session.whorl.home + "/traffic-\(UUID())"
            let outcome = try await session.run(
                arguments,
                reader: "mock:match",
                environment: ["WHORL_TCTI": "pcap:" + session.tpm.address, "TCTI_PCAP_FILE": file]
            )
            #expect(outcome.status == 0, "\(outcome)")
            guard FileManager.default.fileExists(atPath: file) else { return 0 }
            return try TrafficRecording(contentsOf: URL(filePath: file)).commands.count
        }
        // A program that stands still for a second, as on a busy machine, lets go of the TPM and begins anew.
        func fewest(_ arguments: [String], _ wanted: Int) async throws -> Int {
            var count = Int.max
            for _ in 0..<10 where count > wanted { count = min(count, try await commands(arguments)) }
            return count
        }
        try await session.whorl.enroll()
        #expect(try await commands(["can-evaluate"]) == 0)
        #expect(try await commands(["evaluate", "--reason", "r"]) == 0)
        #expect(try await session.run(["vault", "provision"]).status == 0)
        _ = try await commands(["can-evaluate"])
        // The state key, and one look at the counter for each decision.
        #expect(try await fewest(["can-evaluate"], 8) <= 8)
        #expect(try await fewest(["evaluate", "--reason", "r"], 11) <= 11)
    }
}
