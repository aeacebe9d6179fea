// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `TPMPolicy digests` {
    /// The chip computes the digest again from what was proved, and unseals only where both are equal.
    @Test func `the TPM computes the same for every shape`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        let selection = try PCRSelection([0, 7, 23])
        let registers = try await bench.run { tpm throws(TPMError) in try tpm.readPCRs(selection) }
        let (a, b) = (bench.policy, TPMPolicy.counter(counter, equals: value))
        let pcrs = TPMPolicy.pcrs(selection, digest: registers.digest)
        let unknown = TPMPolicy.secret(of: TPMName(bytes: [0, 11] + Array(repeating: 1, count: 32)))
        let shapes: [TPMPolicy] = [
            a, b, .authValue, pcrs, .all([a, b]), .all([b, a]), .all([]),
            .any([a, unknown]), .any([unknown, a]), .any([a]),
            .all([b, .any([.all([a, .authValue]), unknown]), pcrs]),
            .any([.any([unknown, unknown]), .all([a, .any([unknown, b])])]),
            // More than eight: groups.
            .any(Array(repeating: unknown, count: 8) + [a]),
            .any(Array(repeating: unknown, count: 70) + [a]),
        ]
        var credentials = bench.credentials
        let auth = secret([6])
        credentials.authValue = auth
        let means = credentials
        for shape in shapes {
            let unsealed = try await bench.run { tpm throws(TPMError) in
                let object = try tpm.create(
                    .sealed(secret([5])),
                    under: bench.root,
                    policy: shape.digest,
                    auth: auth
                )
                return SecretBox(try tpm.unseal(object, under: bench.root, meeting: shape, with: means))
            }
            #expect(unsealed.bytes.copy == [5], "\(shape)")
        }
        try await bench.expectNothingLeft()
    }

    /// The computation, against tpm2-tools, which share no code with it.
    @Test func `tpm2-tools compute the same`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        await bench.device.close()
        let chip = bench.chip
        let authority = try bench.load(bench.authority, as: "authority.ctx")
        #expect(authority.status == 0, "\(authority.errors)")
        try chip.write(withUnsafeBytes(of: value.bigEndian) { Array($0) }, to: "value")
        let index = "0x" + String(counter.index, radix: 16)
        let secretStep = [
            "policysecret", "-S", "s.ctx", "-c", "authority.ctx", "-L", "digest", "hex:\(bench.auth.hex)",
        ]
        let counterStep = [
            "policynv", "-S", "s.ctx", "-i", "value", "-L", "digest", index, "eq", "-C", index,
        ]
        let pcrStep = ["policypcr", "-S", "s.ctx", "-l", "sha256:0,7", "-L", "digest"]
        let authStep = ["policyauthvalue", "-S", "s.ctx", "-L", "digest"]
        let registers = try await bench.run { tpm throws(TPMError) in try tpm.readPCRs(PCRSelection([0, 7])) }
        await bench.device.close()
        let (a, b) = (bench.policy, TPMPolicy.counter(counter, equals: value))
        let c = TPMPolicy.pcrs(try PCRSelection([0, 7]), digest: registers.digest)

        #expect(try bench.toolDigest([secretStep]) == a.digest)
        #expect(try bench.toolDigest([secretStep, counterStep]) == TPMPolicy.all([a, b]).digest)
        #expect(try bench.toolDigest([counterStep, pcrStep]) == TPMPolicy.all([b, c]).digest)
        #expect(try bench.toolDigest([secretStep, authStep]) == TPMPolicy.all([a, .authValue]).digest)
        try chip.write(a.digest.bytes, to: "first")
        try chip.write(b.digest.bytes, to: "second")
        let orStep = ["policyor", "-S", "s.ctx", "-L", "digest", "sha256:first,second"]
        #expect(try bench.toolDigest([secretStep, orStep]) == TPMPolicy.any([a, b]).digest)
        #expect(
            try bench.toolDigest([secretStep, orStep, authStep])
                == TPMPolicy.all([.any([a, b]), .authValue]).digest
        )
    }

    @Test func `a choice of nothing has a digest that nothing meets`() async throws {
        let bench = try await Bench()
        let nothing = TPMPolicy.any([])
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                let object = try tpm.create(.sealed(secret([5])), under: bench.root, policy: nothing.digest)
                return SecretBox(
                    try tpm.unseal(object, under: bench.root, meeting: nothing, with: bench.credentials)
                )
            }
        }
        #expect(error.code == .missingCredential)
        #expect(TPMPolicy.any([]).digest != TPMPolicy.all([]).digest)
    }

    @Test func `PCRs that changed are refused`() async throws {
        let bench = try await Bench()
        let selection = try PCRSelection([16])
        let before = try await bench.run { tpm throws(TPMError) in try tpm.readPCRs(selection) }
        let policy = TPMPolicy.all([bench.policy, .pcrs(selection, digest: before.digest)])
        let object = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(secret([4])), under: bench.root, policy: policy.digest)
            _ = try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials)
            return object
        }
        await bench.device.close()
        let zeros = String(repeating: "ab", count: 32)
        #expect(try bench.chip.tool("pcrextend", "16:sha256=\(zeros)").status == 0)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials)
                )
            }
        }
        #expect(error.code == .policyFailed)
        #expect(error.command == "TPM2_PolicyPCR")
        try await bench.expectNothingLeft()
    }
}
