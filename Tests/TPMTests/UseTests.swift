// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SoftwareTPM
import TPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Using objects of the TPM` {
    @Test func `a sealed secret comes back when its policy is met`() async throws {
        let bench = try await Bench()
        let secret = secret(Array(1...128))
        let result = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.seal(secret, under: bench.root, policy: bench.policy.digest)
            return SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
        #expect(result.bytes.copy == Array(1...128))
        try await bench.expectNothingLeft()
    }

    @Test func `a wrong value of the authority is refused, and nothing is left`() async throws {
        let bench = try await Bench()
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.seal(secret([1, 2, 3]), under: bench.root, policy: bench.policy.digest)
        }
        var wrong = Credentials()
        wrong.add(bench.authority, auth: secret([9]))
        let credentials = wrong
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: credentials))
            }
        }
        #expect(error.code == .authFailed)
        #expect(error.command == "TPM2_PolicySecret")
        try await bench.expectNothingLeft()
    }
}
