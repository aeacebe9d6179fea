// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// An active interposer, who may answer and send whatever it likes.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A policy session` {
    // Docs/Security.md: A6b
    @Test(arguments: SessionThief.Trick.allCases)
    func `of an interposer's own is never authorized`(trick: SessionThief.Trick) async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let sealed = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([4, 2])), under: bench.root, policy: bench.policy.digest)
        }
        let thief = SessionThief(trick, of: sealed, under: bench.root)
        bus.decide { thief.action($1) }

        let error = try await failure { () throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(
                        sealed,
                        under: bench.root,
                        meeting: bench.policy,
                        with: bench.credentials
                    )
                )
            }
        }

        #expect(thief.stolen == nil)
        #expect(error.code == .alteredAnswer, "\(error)")
        // An answer that is not the chip's is found out at once. With the chip's own nonce the handle is wrong, which the
        // chip itself finds out: TPM_RC_NONCE of the first parameter.
        #expect(thief.answerToPolicySecret == (trick == .ownHandle ? 0x1cf : nil))
        #expect(error.command == (trick == .ownHandle ? "TPM2_PolicySecret" : "TPM2_StartAuthSession"))
    }

    @Test func `that the chip itself started is authorized and used`() async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let opened = try await bench.run { tpm throws(TPMError) in
            let sealed = try tpm.create(
                .sealed(secret([4, 2])),
                under: bench.root,
                policy: bench.policy.digest
            )
            return SecretBox(
                try tpm.unseal(sealed, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
        #expect(opened.bytes.copy == [4, 2])
        try await bench.expectNothingLeft()
    }
}
