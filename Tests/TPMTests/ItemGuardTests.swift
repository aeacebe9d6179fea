// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// What an item's own authorization value opens, and how often it may be guessed; tpm2-tools are the attacker.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `An item with a value of its own` {
    private let value = secret([1, 2, 3])

    @Test(arguments: [true, false])
    func `takes no other value by the command that changes it`(isCounted: Bool) async throws {
        let (bench, item, _) = try await sealed(dictionaryAttack: isCounted)
        await bench.device.close()
        #expect(try bench.load(item, as: "item.ctx").status == 0)
        let root = "0x" + String(bench.root.handle, radix: 16)
        // TPM_RC_AUTH_TYPE.
        let refusal = "authorization handle is not correct for command"
        for guess in ["hex:010203", "hex:010204"] {
            let arguments = ["changeauth", "-C", root, "-c", "item.ctx", "-p", guess, "-r", "new", "hex:04"]
            let changed = try bench.chip.tool(arguments: arguments)
            // Not the value is refused, which would tell a right guess from a wrong one, but the kind of session.
            #expect(changed.status != 0 && changed.errors.contains(refusal), "\(changed.errors)")
            try bench.chip.flushObjects()
        }
        #expect(try await failures(bench) == 0)
    }

    @Test func `is locked by the chip after wrong ones, and told as locked`() async throws {
        let (bench, item, policy) = try await sealed(dictionaryAttack: true)
        var codes: [TPMError.Code] = []
        for _ in 0..<4 {
            let error = try await failure { () async throws(TPMError) in
                try await open(item, bench, policy, with: secret([9]))
            }
            codes.append(error.code)
        }
        // swtpm locks at the third wrong value, for 1000 seconds.
        #expect(codes == [.authFailed, .authFailed, .authFailed, .lockout(seconds: 1000)])
        let right = try await failure { () async throws(TPMError) in
            try await open(item, bench, policy, with: value)
        }
        #expect(right.code == .lockout(seconds: 1000))
        await bench.device.close()
        #expect(try bench.chip.tool("dictionarylockout", "-c").status == 0)
        #expect(try await open(item, bench, policy, with: value).bytes.copy == [7])
        try await bench.expectNothingLeft()
    }

    @Test func `that is not counted has any number of tries`() async throws {
        let (bench, item, policy) = try await sealed(dictionaryAttack: false)
        for _ in 0..<5 {
            let error = try await failure { () async throws(TPMError) in
                try await open(item, bench, policy, with: secret([9]))
            }
            #expect(error.code == .authFailed)
        }
        #expect(try await failures(bench) == 0)
        #expect(try await open(item, bench, policy, with: value).bytes.copy == [7])
    }

    /// Made by earlier versions, whose items had other attributes.
    @Test func `without the attributes of today still opens`() async throws {
        let bench = try await Bench()
        let policy = TPMPolicy.all([bench.policy, .authValue])
        await bench.device.close()
        try bench.chip.write([7], to: "secret")
        try bench.chip.write(policy.digest.bytes, to: "policy")
        let made = try bench.chip.tool(
            "create",
            "-C",
            "0x" + String(bench.root.handle, radix: 16),
            "-i",
            "secret",
            "-L",
            "policy",
            "-p",
            "hex:010203",
            "-a",
            "fixedtpm|fixedparent|noda",
            "-u",
            "public",
            "-r",
            "private"
        )
        #expect(made.status == 0, "\(made.errors)")
        try bench.chip.flushObjects()
        let blobs = try bench.chip.read("public") + bench.chip.read("private")
        let item = try TPMObject(serialized: bench.authority.serialized.prefix(1) + blobs)
        #expect(try await open(item, bench, policy, with: value).bytes.copy == [7])
        try await bench.expectNothingLeft()
    }

    // MARK: Parts

    private func sealed(dictionaryAttack: Bool) async throws -> (Bench, TPMObject, TPMPolicy) {
        let bench = try await Bench()
        let policy = TPMPolicy.all([bench.policy, .authValue])
        let value = value
        let item = try await bench.run { tpm throws(TPMError) in
            try tpm.create(
                .sealed(secret([7])),
                under: bench.root,
                policy: policy.digest,
                auth: value,
                dictionaryAttack: dictionaryAttack
            )
        }
        return (bench, item, policy)
    }

    private func open(
        _ item: TPMObject,
        _ bench: Bench,
        _ policy: TPMPolicy,
        with value: SecretBox
    ) async throws(TPMError) -> SecretBox {
        var credentials = bench.credentials
        credentials.authValue = value
        let means = credentials
        return try await bench.run { tpm throws(TPMError) in
            SecretBox(try tpm.unseal(item, under: bench.root, meeting: policy, with: means))
        }
    }

    private func failures(_ bench: Bench) async throws -> Int {
        try await bench.run { tpm throws(TPMError) in try tpm.properties().dictionaryAttack.failures }
    }
}
