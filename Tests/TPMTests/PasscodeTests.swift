// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Authorization values under the TPM's count` {
    private let right = secret([1, 2, 3])
    private let wrong = secret([1, 2, 4])

    private func passcode(_ bench: Bench, counted: Bool = true) async throws -> TPMObject {
        let auth = right
        return try await bench.run { tpm throws(TPMError) in
            try tpm.createAuthority(under: bench.root, auth: auth, dictionaryAttack: counted)
        }
    }

    @Test func `right, wrong and locked are told apart, and the lock is cleared`() async throws {
        let bench = try await Bench()
        let passcode = try await passcode(bench)
        let (right, wrong) = (right, wrong)
        let verdicts = try await bench.run { tpm throws(TPMError) in
            var verdicts = [try tpm.verify(right, of: passcode, under: bench.root)]
            for _ in 0..<4 { verdicts.append(try tpm.verify(wrong, of: passcode, under: bench.root)) }
            verdicts.append(try tpm.verify(right, of: passcode, under: bench.root))
            return verdicts
        }
        // swtpm locks at the third wrong value.
        #expect(verdicts == [.right, .wrong, .wrong, .wrong, .lockedOut, .lockedOut])
        let state = try await bench.run { tpm throws(TPMError) in try tpm.properties().dictionaryAttack }
        #expect(state.inLockout && state.failures == 3 && state.limit == 3 && state.recoverySeconds == 1000)
        #expect(state.secondsToNextTry == 1000)
        await bench.device.close()
        #expect(try bench.chip.tool("dictionarylockout", "-c").status == 0)
        let after = try await bench.run { tpm throws(TPMError) in
            try tpm.verify(right, of: passcode, under: bench.root)
        }
        #expect(after == .right)
        try await bench.expectNothingLeft()
    }

    @Test func `a lockout does not stop the authority, which is not counted`() async throws {
        let bench = try await Bench()
        let passcode = try await passcode(bench)
        let wrong = wrong
        let result = try await bench.run { tpm throws(TPMError) in
            for _ in 0..<4 { _ = try tpm.verify(wrong, of: passcode, under: bench.root) }
            let object = try tpm.create(.sealed(secret([8])), under: bench.root, policy: bench.policy.digest)
            return SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
        #expect(result.bytes.copy == [8])
    }

    @Test func `a lockout names its seconds and the remedy`() async throws {
        let bench = try await Bench()
        let passcode = try await passcode(bench)
        let (right, wrong) = (right, wrong)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                for _ in 0..<4 { _ = try tpm.verify(wrong, of: passcode, under: bench.root) }
                return SecretBox(try tpm.hmac([], with: passcode, under: bench.root, auth: right))
            }
        }
        #expect(error.code == .lockout(seconds: 1000))
        #expect(error.responseCode == 0x921)
        #expect(error.recovery.contains("1000 seconds"))
    }

    @Test func `a changed value keeps the name, and policies go on`() async throws {
        let bench = try await Bench()
        let old = try await passcode(bench)
        let (right, new) = (right, secret([6, 6]))
        let policy = TPMPolicy.secret(of: old.name)
        let sealed = try await bench.run { tpm throws(TPMError) in
            // Loaded before, so that a stale one would be found in the cache.
            _ = try tpm.verify(right, of: old, under: bench.root)
            return try tpm.create(.sealed(secret([3])), under: bench.root, policy: policy.digest)
        }
        let changed = try await bench.run { tpm throws(TPMError) in
            try tpm.changeAuth(of: old, under: bench.root, from: right, to: new)
        }
        #expect(changed.name == old.name)
        #expect(changed.privateBlob != old.privateBlob)
        let verdicts = try await bench.run { tpm throws(TPMError) in
            [
                try tpm.verify(new, of: changed, under: bench.root),
                try tpm.verify(right, of: changed, under: bench.root),
            ]
        }
        #expect(verdicts == [.right, .wrong])
        var credentials = Credentials()
        credentials.add(changed, auth: new)
        let means = credentials
        let result = try await bench.run { tpm throws(TPMError) in
            SecretBox(try tpm.unseal(sealed, under: bench.root, meeting: policy, with: means))
        }
        #expect(result.bytes.copy == [3])
        try await bench.expectNothingLeft()
    }

    @Test func `zeros at the end of a value do not count`() async throws {
        let bench = try await Bench()
        let verdict = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.createAuthority(
                under: bench.root,
                auth: secret([1, 2, 0, 0]),
                dictionaryAttack: true
            )
            return try tpm.verify(secret([1, 2]), of: object, under: bench.root)
        }
        #expect(verdict == .right)
    }
}
