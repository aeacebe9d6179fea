// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// Policies with several branches that the caller's credentials suffice for.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A choice of branches` {
    /// A counter that has gone on since the policies here were made.
    private func staleCounter(_ bench: Bench) async throws -> (NVCounter, UInt64) {
        try await bench.run { tpm throws(TPMError) in
            let counter = try tpm.defineCounter(
                writePolicy: bench.policy,
                under: bench.root,
                credentials: bench.credentials
            )
            let value = try tpm.read(counter)
            try tpm.increment(
                counter,
                writePolicy: bench.policy,
                under: bench.root,
                credentials: bench.credentials
            )
            return (counter, value)
        }
    }

    private func open(_ policy: TPMPolicy, _ credentials: Credentials, on bench: Bench) async throws
        -> [UInt8]
    {
        try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(secret([7])), under: bench.root, policy: policy.digest)
            return SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: policy, with: credentials)
            )
        }.bytes.copy
    }

    @Test(arguments: [0, 1, 2])
    func `is met by the branch that the TPM accepts, wherever it stands`(place: Int) async throws {
        let bench = try await Bench()
        let (counter, value) = try await staleCounter(bench)
        let stale = TPMPolicy.all([bench.policy, .counter(counter, equals: value)])
        let present = TPMPolicy.all([bench.policy, .counter(counter, equals: value + 1)])
        var branches = [stale, .all([bench.policy, .counter(counter, equals: value + 2)])]
        branches.insert(present, at: place)
        #expect(try await open(.any(branches), bench.credentials, on: bench) == [7])
        // The same below a further condition, in each of two choices.
        let nested = TPMPolicy.all([.any(branches), .any(branches)])
        #expect(try await open(nested, bench.credentials, on: bench) == [7])
        try await bench.expectNothingLeft()
    }

    @Test func `takes no command more where one branch depends on the caller alone`() async throws {
        let chip = try SoftwareTPM()
        let line = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: line.address, chip: chip)
        let (counter, value) = try await staleCounter(bench)
        let stale = TPMPolicy.all([bench.policy, .counter(counter, equals: value)])
        #expect(try await open(.any([stale, bench.policy]), bench.credentials, on: bench) == [7])
        #expect(line.names.filter { $0 == "PolicyNV" }.isEmpty)
    }

    @Test func `without a branch that the TPM accepts is refused as its last branch is`() async throws {
        let bench = try await Bench()
        let (counter, value) = try await staleCounter(bench)
        let stale = TPMPolicy.all([bench.policy, .counter(counter, equals: value)])
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                let policy = TPMPolicy.any([stale, stale])
                let object = try tpm.create(.sealed(secret([7])), under: bench.root, policy: policy.digest)
                _ = try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials)
            }
        }
        #expect(error.code == .policyFailed && error.command == "TPM2_PolicyNV")
        try await bench.expectNothingLeft()
    }

    @Test func `stops at a wrong value, which is counted once`() async throws {
        let bench = try await Bench()
        let right = secret([1])
        let passcode = try await bench.run { tpm throws(TPMError) in
            try tpm.createAuthority(under: bench.root, auth: right, dictionaryAttack: true)
        }
        var credentials = bench.credentials
        credentials.add(passcode, auth: secret([2]))
        let offered = credentials
        let policy = TPMPolicy.any([.secret(of: passcode.name), bench.policy])
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                let object = try tpm.create(.sealed(secret([7])), under: bench.root, policy: policy.digest)
                _ = try tpm.unseal(object, under: bench.root, meeting: policy, with: offered)
            }
        }
        #expect(error.code == .authFailed)
        let properties = try await bench.run { tpm throws(TPMError) in try tpm.properties() }
        #expect(properties.dictionaryAttack.failures == 1)
    }
}
