// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Using objects of the TPM` {
    @Test(arguments: [1, 32, 128])
    func `a sealed secret comes back when its policy is met`(size: Int) async throws {
        let bench = try await Bench()
        let bytes = (0..<size).map { UInt8($0 + 1) }
        let sealed = secret(bytes)
        let result = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(sealed), under: bench.root, policy: bench.policy.digest)
            return SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
        #expect(result.bytes.copy == bytes)
        try await bench.expectNothingLeft()
    }

    @Test(arguments: [0, 129])
    func `what the TPM cannot seal is refused`(size: Int) async throws {
        let bench = try await Bench()
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.create(
                    .sealed(secret(Array(repeating: 1, count: size))),
                    under: bench.root,
                    policy: bench.policy.digest
                )
            }
        }
        #expect(error.code == .tooLarge)
    }

    @Test func `a signature verifies with openssl`() async throws {
        let bench = try await Bench()
        let message: [UInt8] = Array("a message".utf8)
        try bench.chip.write(message, to: "message")
        try bench.chip.run("openssl", "dgst", "-sha256", "-binary", "-out", "digest", "message")
        let digest = try bench.chip.read("digest")
        let (key, signature) = try await bench.run { tpm throws(TPMError) in
            let key = try tpm.create(.signingKey, under: bench.root, policy: bench.policy.digest)
            return (
                key,
                try tpm.sign(
                    digest: digest,
                    with: key,
                    under: bench.root,
                    meeting: bench.policy,
                    with: bench.credentials
                )
            )
        }
        let point = try #require(key.publicPoint)
        try bench.chip.write(subjectPublicKeyInfo(point), to: "key.der")
        try bench.chip.write(derSignature(signature), to: "signature")
        let verify = ["dgst", "-sha256", "-verify", "key.der", "-keyform", "DER", "-signature", "signature"]
        let right = try bench.chip.run("openssl", arguments: verify + ["message"])
        #expect(right.status == 0, "\(right.output) \(right.errors)")
        try bench.chip.write(message + [0], to: "other")
        #expect(try bench.chip.run("openssl", arguments: verify + ["other"]).status != 0)
        try await bench.expectNothingLeft()
    }

    @Test func `a wrong value of the authority is refused`() async throws {
        let bench = try await Bench()
        var wrong = Credentials()
        wrong.add(bench.authority, auth: secret([9]))
        let error = try await refusal(bench, policy: bench.policy, credentials: wrong)
        #expect(error.code == .authFailed)
        #expect(error.command == "TPM2_PolicySecret")
        #expect(error.responseCode == 0x9a2)
        try await bench.expectNothingLeft()
    }

    @Test func `without means the TPM is not even asked`() async throws {
        let bench = try await Bench()
        let error = try await refusal(bench, policy: bench.policy, credentials: Credentials())
        #expect(error.code == .missingCredential)
    }

    @Test func `a policy other than the object's is refused by the TPM`() async throws {
        let bench = try await Bench()
        let error = try await refusal(
            bench,
            policy: bench.policy,
            meeting: .all([bench.policy, bench.policy]),
            credentials: bench.credentials
        )
        #expect(error.code == .policyFailed)
        #expect(error.command == "TPM2_Unseal")
        try await bench.expectNothingLeft()
    }

    @Test func `an application password is asked for by the TPM`() async throws {
        let bench = try await Bench()
        let policy = TPMPolicy.all([bench.policy, .authValue])
        var right = bench.credentials
        right.authValue = secret([7, 7, 0])
        var wrong = bench.credentials
        wrong.authValue = secret([7, 8])
        let (rightOne, wrongOne) = (right, wrong)
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(
                .sealed(secret([42])),
                under: bench.root,
                policy: policy.digest,
                auth: secret([7, 7, 0])
            )
        }
        let result = try await bench.run { tpm throws(TPMError) in
            SecretBox(try tpm.unseal(object, under: bench.root, meeting: policy, with: rightOne))
        }
        #expect(result.bytes.copy == [42])
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(try tpm.unseal(object, under: bench.root, meeting: policy, with: wrongOne))
            }
        }
        #expect(error.code == .authFailed)
        #expect(error.command == "TPM2_Unseal")
        // The object that stayed loaded has kept neither value.
        let again = try await bench.run { tpm throws(TPMError) in
            SecretBox(try tpm.unseal(object, under: bench.root, meeting: policy, with: rightOne))
        }
        #expect(again.bytes.copy == [42])
        try await bench.expectNothingLeft()
    }

    @Test func `a policy of two authorities fits three slots`() async throws {
        let bench = try await Bench()
        let passcodeAuth = secret([5, 5, 5])
        let passcode = try await bench.run { tpm throws(TPMError) in
            try tpm.createAuthority(under: bench.root, auth: passcodeAuth, dictionaryAttack: true)
        }
        let policy = TPMPolicy.all([bench.policy, .secret(of: passcode.name)])
        var credentials = bench.credentials
        credentials.add(passcode, auth: passcodeAuth)
        let both = credentials
        for _ in 0..<3 {
            let result = try await bench.run { tpm throws(TPMError) in
                let object = try tpm.create(.sealed(secret([1])), under: bench.root, policy: policy.digest)
                return SecretBox(try tpm.unseal(object, under: bench.root, meeting: policy, with: both))
            }
            #expect(result.bytes.copy == [1])
        }
        try await bench.expectNothingLeft()
    }

    @Test func `an HMAC by the TPM is the same each time, and another for other data`() async throws {
        let bench = try await Bench()
        let results = try await bench.run { tpm throws(TPMError) in
            var results: [SecretBox] = []
            for data: [UInt8] in [[1], [1], [2]] {
                results.append(
                    SecretBox(
                        try tpm.hmac(data, with: bench.authority, under: bench.root, auth: bench.auth)
                    )
                )
            }
            return results
        }
        #expect(results[0].bytes.copy == results[1].bytes.copy)
        #expect(results[0].bytes.copy != results[2].bytes.copy)
        #expect(results[0].bytes.count == 32)
        try await bench.expectNothingLeft()
    }

    /// What unsealing an object of `policy` by `meeting` throws.
    private func refusal(
        _ bench: Bench,
        policy: TPMPolicy,
        meeting: TPMPolicy? = nil,
        credentials: Credentials
    ) async throws -> TPMError {
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([1, 2, 3])), under: bench.root, policy: policy.digest)
        }
        return try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(object, under: bench.root, meeting: meeting ?? policy, with: credentials)
                )
            }
        }
    }
}
