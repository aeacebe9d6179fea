// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Counters in the TPM` {
    @Test func `a counter only grows, and a policy on its value holds until then`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        let policy = TPMPolicy.all([bench.policy, .counter(counter, equals: value)])
        let object = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(secret([5])), under: bench.root, policy: policy.digest)
            _ = try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials)
            return object
        }
        let after = try await bench.run { tpm throws(TPMError) in
            try tpm.increment(
                counter,
                writePolicy: bench.policy,
                under: bench.root,
                credentials: bench.credentials
            )
            return try tpm.read(counter)
        }
        #expect(after == value + 1)
        for meeting in [policy, .all([bench.policy, .counter(counter, equals: after)])] {
            let error = try await failure { () async throws(TPMError) in
                try await bench.run { tpm throws(TPMError) in
                    SecretBox(
                        try tpm.unseal(object, under: bench.root, meeting: meeting, with: bench.credentials)
                    )
                }
            }
            #expect(error.code == .policyFailed)
        }
        try await bench.expectNothingLeft()
    }

    @Test func `a stored counter is the same one`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let again = try NVCounter(serialized: counter.serialized)
        #expect(again == counter)
        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(again) }
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(again) }
        #expect(check == .same(value))
    }

    @Test func `tpm2-tools see the attributes and the name`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        await bench.device.close()
        let words = try bench.chip.tool("nvreadpublic", "0x" + String(counter.index, radix: 16)).output
        #expect(words.contains("friendly: policywrite|nt=0x1|authread|no_da|written"), "\(words)")
        #expect(words.lowercased().contains(hexadecimal(bench.policy.digest.bytes)), "\(words)")
        #expect(words.contains(hexadecimal(counter.name.bytes)), "\(words)")
    }

    @Test func `nobody without the authority increments it`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        await bench.device.close()
        let index = "0x" + String(counter.index, radix: 16)
        #expect(try bench.chip.tool("nvincrement", "-C", index, index).status != 0)
        #expect(try bench.chip.tool("nvincrement", "-C", "o", index).status != 0)
    }

    /// The attack that an NV counter is chosen against: the owner deletes it and defines it anew.
    @Test func `deleted and defined anew, it starts higher`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        let policy = TPMPolicy.all([bench.policy, .counter(counter, equals: value)])
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([5])), under: bench.root, policy: policy.digest)
        }
        try await bench.run { tpm throws(TPMError) in try tpm.undefine(counter) }
        let gone = try await bench.run { tpm throws(TPMError) in try tpm.check(counter) }
        #expect(gone == .missing)
        let missing = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        }
        #expect(missing.code == .nvMissing)

        let index = "0x" + String(counter.index, radix: 16)
        await bench.device.close()
        try bench.chip.write(bench.policy.digest.bytes, to: "policy")
        let made = try bench.chip.tool(
            "nvdefine",
            index,
            "-C",
            "o",
            "-a",
            "policywrite|authread|no_da|nt=counter",
            "-L",
            "policy"
        )
        #expect(made.status == 0, "\(made.errors)")
        let fresh = try await bench.run { tpm throws(TPMError) in try tpm.check(counter) }
        #expect(fresh == .unwritten)
        let refused = try await unsealing(object, bench, policy)
        #expect([.nvUnwritten, .policyFailed].contains(refused.code), "\(refused)")

        let found = try await bench.run { tpm throws(TPMError) in
            try tpm.findCounters(writePolicy: bench.policy.digest)
        }
        let other = try #require(found.first)
        #expect(found.count == 1 && other.index == counter.index && other.name != counter.name)
        try await bench.run { tpm throws(TPMError) in
            try tpm.increment(
                other,
                writePolicy: bench.policy,
                under: bench.root,
                credentials: bench.credentials
            )
        }
        // Incremented, it has the old name again, and a higher value.
        let now = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        #expect(now > value)
        let stillRefused = try await unsealing(object, bench, policy)
        #expect(stillRefused.code == .policyFailed)
        try await bench.expectNothingLeft()
    }

    @Test func `a full TPM says so, and leaves nothing half made`() async throws {
        let bench = try await Bench()
        var others = 0
        while try bench.chip.tool("nvdefine", "-C", "o", "-s", "2048").status == 0 { others += 1 }
        var made: [NVCounter] = []
        let error = try await failure { () async throws(TPMError) in
            while made.count < 200 {
                made.append(
                    try await bench.run { tpm throws(TPMError) in
                        try tpm.defineCounter(
                            writePolicy: bench.policy,
                            under: bench.root,
                            credentials: bench.credentials
                        )
                    }
                )
            }
        }
        #expect(error.code == .nvSpace)
        #expect(error.recovery.contains("tpm2_nvundefine"))
        #expect(try bench.chip.handles(from: 0x0100_0000).count == made.count + others)
        try await bench.expectNothingLeft()
    }

    @Test func `a taken index is told apart`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.defineCounter(
                    at: counter.index,
                    writePolicy: bench.policy,
                    under: bench.root,
                    credentials: bench.credentials
                )
            }
        }
        #expect(error.code == .nvDefined)
        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(counter) }
        #expect(check != .missing)
    }

    @Test func `an increment that fails takes the definition back`() async throws {
        let bench = try await Bench()
        var wrong = Credentials()
        wrong.add(bench.authority, auth: secret([1]))
        let credentials = wrong
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.defineCounter(
                    writePolicy: bench.policy,
                    under: bench.root,
                    credentials: credentials
                )
            }
        }
        #expect(error.code == .authFailed)
        #expect(try bench.chip.handles(from: 0x0100_0000) == [])
        try await bench.expectNothingLeft()
    }

    private func unsealing(_ object: TPMObject, _ bench: Bench, _ policy: TPMPolicy) async throws -> TPMError
    {
        try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials)
                )
            }
        }
    }
}
