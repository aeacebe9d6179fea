// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Two blobs of one name` {
    @Test func `are not taken for each other while one of them is loaded`() async throws {
        let bench = try await Bench()
        let (old, new) = (secret([1]), secret([2]))
        let verdicts = try await bench.run { tpm throws(TPMError) in
            let first = try tpm.createAuthority(under: bench.root, auth: old, dictionaryAttack: false)
            let second = try tpm.changeAuth(of: first, under: bench.root, from: old, to: new)
            return [
                try tpm.verify(new, of: second, under: bench.root),
                try tpm.verify(old, of: first, under: bench.root),
                try tpm.verify(old, of: second, under: bench.root),
                try tpm.verify(new, of: first, under: bench.root),
            ]
        }
        #expect(verdicts == [.right, .right, .wrong, .wrong])
        try await bench.expectNothingLeft()
    }

    @Test func `of which one is damaged, do not hide the damage`() async throws {
        let bench = try await Bench()
        var bytes = bench.authority.serialized
        bytes[bytes.count - 1] ^= 1
        let damaged = try TPMObject(serialized: bytes)
        #expect(damaged.name == bench.authority.name)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.load(bench.authority, under: bench.root)
                try tpm.load(damaged, under: bench.root)
            }
        }
        #expect(error.code == .foreignBlob)
        try await bench.expectNothingLeft()
    }
}
