// SPDX-License-Identifier: Apache-2.0

import SoftwareTPM
import Testing

/// The owner's passcode through the program; the TPM is swtpm.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct PasscodeVerbTests {
    private let session: VaultSession

    init() throws { session = try VaultSession() }

    @Test func `it is set once, checked, changed and removed`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 14)
        #expect(try await session.withPasscode("123", run: "passcode set").status == 64)
        // Short ones are taken with advice.
        let long = try await session.withPasscode("12345678", run: "passcode set")
        #expect(long.status == 0 && long.out == "Passcode set.\n", "\(long)")
        let short = try await session.withPasscode("12345678", "1234567", run: "passcode change")
        #expect(short.status == 0 && short.out.contains("The passcode is short. "), "\(short)")
        #expect(short.out.contains("use at least 8 characters"), "\(short)")
        #expect(try await session.withPasscode("1234567", run: "passcode remove").status == 0)
        let set = try await session.withPasscode("1234", run: "passcode set --json")
        #expect(set.status == 0 && set.isHardware == false && set.tpm == "simulated", "\(set)")
        #expect(try await session.withPasscode("4321", run: "passcode set").status == 34)
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)
        let wrong = try await session.withPasscode("4321", run: "passcode verify --json")
        #expect(wrong.status == 10 && wrong.errorCode == "authenticationFailed")
        #expect(try await session.withPasscode("1234", "5678", run: "passcode change").status == 0)
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 10)
        #expect(try await session.withPasscode("5678", run: "passcode verify").status == 0)
        #expect(try await session.withPasscode("5678", run: "passcode remove").status == 0)
        #expect(try await session.withPasscode("5678", run: "passcode verify").status == 14)
    }

    @Test func `it opens what takes it, also after a change; what it alone opens goes with it`() async throws
    {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.add("s", "treasure", access: "passcode")
        let wrong = try await session.withPasscode("0000", run: "secret get s")
        #expect(wrong.status == 10 && wrong.out == "", "\(wrong)")
        #expect(try await session.withPasscode("1234", "5678", run: "passcode change").status == 0)
        let right = try await session.withPasscode("5678", run: "secret get s")
        #expect(right.status == 0 && right.out == "treasure", "\(right)")

        let kept = try await session.withPasscode("5678", run: "passcode remove")
        #expect(kept.status == 1 && kept.err.contains("secret \"s\""), "\(kept)")
        #expect(try await session.withPasscode("5678", run: "secret get s").out == "treasure")
        #expect(try await session.withPasscode("5678", run: "passcode remove --force").status == 0)
        #expect(try await session.run(["secret", "list"]).out == "No secrets.\n")
    }

    @Test func `one that was set later leaves what takes either to the finger`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("s", "treasure", access: "biometry-current-set-or-passcode")
        #expect(try await session.withPasscode("1234", run: "passcode remove").status == 0)
        let set = try await session.withPasscode("5678", run: "passcode set", reader: "mock:match")
        #expect(set.status == 0, "\(set)")
        // The passcode comes before the touch, and is not the one that the secret was bound to.
        let opened = try await session.withPasscode("5678", run: "secret get s", reader: "mock:match")
        #expect(opened.status == 0 && opened.out == "treasure", "\(opened)")
        let get = "secret get s --timeout 3"
        let refused = try await session.withPasscode("5678", run: get, reader: "mock:hang*2")
        #expect(refused.status != 0 && refused.out == "", "\(refused)")
    }

    @Test func `beside a finger that does not come, it opens what takes either`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        try await session.add("s", "treasure", access: "user-presence")
        let passcode = try await session.withPasscode("1234", run: "secret get s", reader: "mock:hang")
        #expect(passcode.status == 0 && passcode.out == "treasure", "\(passcode)")
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
        let evaluated = try await session.withPasscode(
            "1234",
            run: "evaluate --reason r --policy device-owner --json",
            reader: "mock:hang"
        )
        #expect(evaluated.answer("result")?["method"] as? String == "passcode", "\(evaluated)")
    }

    @Test func `it lifts the lock on fingers, which then does not end by time`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        try await session.enroll(by: .passcode("1234"))
        for _ in 0..<2 {
            _ = try await session.run(["evaluate", "--reason", "r"], reader: "mock:then=no-match")
        }
        #expect(try await session.run(["can-evaluate"], reader: "mock:match").status == 17)
        #expect(try await session.withPasscode("0000", run: "passcode verify").status == 10)
        #expect(try await session.run(["can-evaluate"], reader: "mock:match").status == 17)
        #expect(try await session.withPasscode("1234", run: "passcode verify").status == 0)
        #expect(try await session.run(["can-evaluate"], reader: "mock:match").status == 0)
    }

    @Test func `the prompt tells how many wrong ones cost no wait`() async throws {
        #expect(try await session.withPasscode("1234", run: "passcode set").status == 0)
        let person = """
            seen() { for _ in $(seq 3000); do grep -aqs "$1" seen && return; sleep 0.02; done; }
            seen "Passcode: "; printf "0000\\r"; seen "4 tries left before a delay"
            printf "0001\\r"; seen "3 tries left before a delay"; printf "\\033"; seen "status [0-9]"
            """
        let outcome = try await session.sh(
            """
            { \(person); } | \
                script -qefc '"$W" evaluate --reason r --policy device-owner; echo status $?' seen
            """,
            reader: "mock:hang"
        )
        #expect(outcome.out.contains("Wrong passcode. 4 tries left before a delay."), "\(outcome)")
        #expect(outcome.out.contains("Wrong passcode. 3 tries left before a delay."))
    }
}
