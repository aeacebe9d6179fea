// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `whorl ssh` {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    @Test func `makes a key that ssh-keygen can read, and no other command uses it`() async throws {
        try await session.enroll()
        let passcode = try await session.withPasscode(
            "2468 hunter",
            run: "passcode set",
            reader: "mock:match"
        )
        #expect(passcode.status == 0, "\(passcode)")
        let made = try await session.sh("\"$W\" ssh create laptop > laptop.pub && cat laptop.pub")
        #expect(made.status == 0 && made.out.hasPrefix("ecdsa-sha2-nistp256 AAAA"), "\(made)")
        #expect(made.out.hasSuffix(" laptop\n") && made.lines.count == 1)
        let json = try await session.run(["ssh", "public", "laptop", "--json"])
        let fingerprint = try #require(json.answer("result")?["fingerprint"] as? String)
        let read = try await session.sh(
            "\"$W\" ssh public laptop | cmp - laptop.pub && ssh-keygen -lf laptop.pub"
        )
        #expect(read.status == 0 && read.out.contains(fingerprint), "\(read)")
        let list = try await session.run(["ssh", "list"])
        #expect(list.lines.count == 1 && list.out.contains("user-presence"), "\(list)")
        #expect(try await session.run(["key", "list"]).out == "No keys.\n")
        let signed = try await session.sh("printf x | \"$W\" key sign laptop > sig", reader: "mock:match")
        #expect(signed.status == 32, "\(signed)")
        #expect(try await session.run(["key", "delete", "laptop"]).status == 32)
        #expect(try await session.run(["ssh", "create", "laptop"]).status == 34)
        let removed = try await session.run(["ssh", "remove", "laptop"], reader: "mock:match")
        #expect(removed.status == 0 && removed.out == "deleted: laptop\n", "\(removed)")
        #expect(try await session.run(["ssh", "list"]).out == "No SSH keys.\n")
    }

    @Test func `warns of a key that a new finger breaks, and makes none without an owner`() async throws {
        try await session.enroll()
        let bound = try await session.run(["ssh", "create", "bound", "--access", "biometry-current-set"])
        #expect(bound.status == 0 && bound.err.contains("stops working when a finger is added"), "\(bound)")
        for access in ["none", "biometry-any+application-password"] {
            let refused = try await session.run(["ssh", "create", "open", "--access", access])
            #expect(refused.status == 64 && refused.out == "", "\(refused)")
        }
        #expect(try await session.run(["ssh", "list"]).lines.count == 1)
    }
}
