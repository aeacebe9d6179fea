// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// What killed programs leave in a TPM that has no resource manager before it.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TPMLeftoverTests {
    private let session: VaultSession
    private let bus: Interposer

    init() throws {
        session = try VaultSession()
        bus = try Interposer(inFrontOf: session.tpm)
    }

    /// TPM2_Load and TPM2_StartAuthSession, whose answers tell of something that has to be flushed.
    @Test(arguments: [0x157, 0x176] as [UInt32])
    func `when they fill it, the program says so, and its remedy helps`(command: UInt32) async throws {
        try await session.enroll()
        try await session.add("s", "treasure", access: "biometry-any")
        for _ in 0..<(command == 0x157 ? 2 : 3) {
            bus.forget()
            bus.decide { $1 == command ? .killSender(commandIsDone: true) : .pass }
            let outcome = try await session.run(
                ["secret", "get", "s"],
                reader: "mock:match",
                environment: ["WHORL_TCTI": bus.address]
            )
            #expect(outcome.hasLostItsEngine && outcome.out.isEmpty, "\(outcome)")
        }
        // Of three slots for objects, a command with the storage root takes one for itself.
        #expect(try session.tpm.leaks().count >= 2)

        let crowded = try await session.run(["secret", "get", "s", "--json"], reader: "mock:match")
        #expect(crowded.status == 31 && crowded.errorCode == "chipUnavailable", "\(crowded)")
        let recovery = crowded.answer("error")?["recovery"] as? String ?? ""
        // Its own words are the commands to run.
        let remedies = recovery.matches(of: /`tpm2_(flushcontext) (-[a-z])`/)
        #expect(remedies.count == 2, "\(crowded)")
        for remedy in remedies {
            let flushed = try session.tpm.tool(String(remedy.1), String(remedy.2))
            #expect(flushed.status == 0, "\(flushed)")
        }
        #expect(try session.tpm.leaks().isEmpty)
        #expect(try await session.run(["secret", "get", "s"], reader: "mock:match").out == "treasure")
    }
}
