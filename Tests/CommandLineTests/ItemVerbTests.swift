// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// Secrets and keys that a TPM gives to the owner alone, through the program; the TPM is swtpm.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct ItemVerbTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    @Test func `a secret comes back byte for byte for an enrolled finger`() async throws {
        try await session.enroll()
        let added = try await session.sh(
            "head -c 3000 /dev/urandom > s; \"$W\" secret add s --access biometry-any < s"
        )
        #expect(added.status == 0 && added.out == "added: s (biometry-any)\n", "\(added)")
        let same = try await session.sh("\"$W\" secret get s > got; echo $?; cmp s got", reader: "mock:match")
        #expect(same.status == 0 && same.out == "0\n", "\(same)")
        #expect(same.err.contains("whorl: note: a simulated TPM was used, not a real one\n"))
        let json = try await session.run(["secret", "get", "s", "--json"], reader: "mock:match")
        let secret = json.answer("result")?["secret"] as? String
        let kept = try Data(contentsOf: URL(filePath: session.whorl.home + "/s"))
        #expect(secret.flatMap { Data(base64Encoded: $0) } == kept)
        #expect(json.isHardware == false && json.tpm == "simulated")
    }

    @Test func `on a terminal a secret ends its line, in a pipe it is as it was kept`() async throws {
        try await session.add("s", "treasure", access: "none")
        let lines = try await session.sh("printf 'one\\ntwo\\n' | \"$W\" secret add lines --access none")
        #expect(lines.status == 0, "\(lines)")
        let shown = try await session.sh(
            "script -qefc '\"$W\" secret get s 2>errors; \"$W\" secret get lines 2>errors; echo end' seen"
        )
        #expect(shown.out.contains("treasure\r\none\r\ntwo\r\nend"), "\(shown)")
        #expect(try await session.run(["secret", "get", "s"]).out == "treasure")
    }

    @Test func `a refused finger gets no byte of it, and no signature`() async throws {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-any")
        let secret = try await session.run(["secret", "get", "s"], reader: "mock:then=no-match")
        #expect(secret.status == 10 && secret.out == "", "\(secret)")
        #expect(!secret.err.contains("treasure"))
        #expect(try await session.run(["key", "create", "k", "--access", "biometry-any"]).status == 0)
        let signature = try await session.sh(
            "printf m | \"$W\" key sign k --json",
            reader: "mock:then=no-match"
        )
        #expect(signature.status == 17 && !signature.out.contains("signature"), "\(signature)")
    }

    // Docs/Security.md: A2c
    @Test func `after a finger is added, the chip refuses what was bound to the set before`() async throws {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-current-set")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
        try await session.enroll("left-thumb", by: .rightIndex)

        let file = session.whorl.home + "/traffic"
        let refused = try await session.run(
            ["secret", "get", "s"],
            reader: "mock:match",
            environment: ["WHORL_TCTI": "pcap:" + session.tpm.address, "TCTI_PCAP_FILE": file]
        )
        #expect(refused.status == 33 && refused.out == "", "\(refused)")
        // It was TPM2_PolicyNV that said no, not this program: TPM_RC_POLICY is 0x126.
        let traffic = try TrafficRecording(contentsOf: URL(filePath: file))
        #expect(traffic.names.contains("PolicyNV"))
        #expect(traffic.answers.contains { Array($0.dropFirst(6).prefix(4)) == [0, 0, 1, 0x26] })
        #expect(!traffic.holds(Array("treasure".utf8)))

        let list = try await session.run(["secret", "list", "--json"]).answer("result")?["secrets"]
        let item = (list as? [[String: Any]])?.first
        #expect(item?["valid"] as? Bool == false && item?["standing"] as? String == "enrollmentChanged")
        // Removing the finger does not bring it back.
        #expect(try await session.run(["remove", "left-thumb"], reader: "mock:match").status == 0)
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").status == 33)
    }

    @Test func `an item whose counter is gone is listed as one that nobody can tell about`() async throws {
        try await session.enroll()
        try await session.add("set", "treasure", access: "biometry-current-set")
        try await session.add("any", "open", access: "biometry-any")
        let handles = try session.tpm.handles(from: 0x0100_0000).filter { $0 >> 8 == 0x01_8057 }
        let index = try #require(handles.first)
        #expect(try session.tpm.tool("nvundefine", "-C", "o", "0x" + String(index, radix: 16)).status == 0)
        let list = try await session.run(["secret", "list", "--json"]).answer("result")?["secrets"]
        let items = try #require(list as? [[String: Any]])
        let set = try #require(items.first { $0["name"] as? String == "set" })
        #expect(set["standing"] as? String == "unknown" && set["valid"] is NSNull)
        let any = try #require(items.first { $0["name"] as? String == "any" })
        #expect(any["standing"] as? String == "valid" && any["valid"] as? Bool == true)
        let text = try await session.run(["secret", "list"])
        #expect(text.out.contains("unknown: the TPM did not answer"), "\(text)")
        // Once the owner has given up the fingers, the set that it was bound to is no more.
        #expect(try await session.run(["remove", "--all"]).status == 0)
        try await session.enroll()
        let later = try await session.run(["secret", "list"])
        #expect(later.out.contains("unusable: the enrolled fingers changed"), "\(later)")
        #expect(later.lines.count == 2)
    }

    @Test func `a match of a moment ago opens what any finger opens, not what the set opens`() async throws {
        try await session.enroll()
        try await session.add("any", "one", access: "biometry-any")
        try await session.add("set", "two", access: "biometry-current-set")
        #expect(try await session.run(["evaluate", "--reason", "r"], reader: "mock:match").status == 0)
        let reuse = ["--allow-reuse", "300", "--no-interaction"]
        let any = try await session.run(["secret", "get", "any"] + reuse, reader: "mock:hang")
        #expect(any.status == 0 && any.out == "one", "\(any)")
        let set = try await session.run(["secret", "get", "set"] + reuse, reader: "mock:hang")
        #expect(set.status == 20 && set.out == "", "\(set)")
    }

    @Test func `OpenSSL verifies what a key signs`() async throws {
        try await session.enroll()
        let made = try await session.sh("\"$W\" key create k --access biometry-any > k.pem")
        #expect(made.status == 0, "\(made)")
        let verified = try await session.sh(
            """
            printf message > m && "$W" key sign k < m > sig && \
            openssl dgst -sha256 -verify k.pem -signature sig m && "$W" key public k | cmp - k.pem
            """,
            reader: "mock:match"
        )
        #expect(verified.status == 0 && verified.out == "Verified OK\n", "\(verified)")
        let raw = try await session.sh("\"$W\" key sign k --raw < m | wc -c", reader: "mock:match")
        #expect(raw.out.trimmingCharacters(in: .whitespacesAndNewlines) == "64", "\(raw)")
        let json = try await session.sh("\"$W\" key sign k --json < m", reader: "mock:match")
        #expect(json.answer("result")?["algorithm"] as? String == "ES256")
        #expect(json.answer("result")?["signature"] is String)
    }

    @Test func `what is not there, is there already, or has no good name is told apart`() async throws {
        try await session.add("s", "x", access: "none")
        #expect(try await session.run(["secret", "get", "other"]).status == 32)
        #expect(try await session.run(["secret", "delete", "other"]).status == 32)
        #expect(try await session.run(["key", "public", "s"]).status == 32)
        let again = try await session.sh("printf y | \"$W\" secret add s --access none")
        #expect(again.status == 34)
        #expect(try await session.run(["secret", "get", "s"]).out == "x")
        for name in ["a/b", "", "😀", String(repeating: "n", count: 10_000)] {
            let outcome = try await session.run(["secret", "get", "--json", "--", name])
            #expect(outcome.status == 64 && outcome.errorCode == "nameRefused", "\(outcome)")
        }
        #expect(try await session.sh("printf '' | \"$W\" secret add e --access none").status == 64)
        let large = try await session.sh("head -c 1048577 /dev/zero | \"$W\" secret add l --access none")
        #expect(large.status == 64, "\(large)")
        #expect(try await session.run(["secret", "delete", "s"]).status == 0)
        #expect(try await session.run(["secret", "list"]).out == "No secrets.\n")
    }

    @Test func `an application password is needed besides`() async throws {
        let access = "none+application-password"
        let added = try await session.sh(
            """
            printf 'opensesame\\n' > pw; printf 'sesame\\n' > wrong
            printf x | "$W" secret add s --access \(access) --application-password-fd 3 3<pw
            """
        )
        #expect(added.status == 0, "\(added)")
        let right = try await session.sh("\"$W\" secret get s --application-password-fd 3 3<pw")
        #expect(right.status == 0 && right.out == "x", "\(right)")
        let wrong = try await session.sh("\"$W\" secret get s --application-password-fd 3 3<wrong")
        #expect(wrong.status == 10 && wrong.out == "", "\(wrong)")
    }
}
