// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// A key that signs and agrees, with swift-crypto and openssl on the other side.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Agreeing on a secret in the TPM` {
    @Test func `both sides come to the same secret, also where it begins with a zero`() async throws {
        let bench = try await Bench()
        let key = try await agreementKey(bench)
        let own = try #require(key.publicPoint)
        // One secret in 256 begins with a zero, which the TPM may leave out: such a one is looked for.
        var others = [P256.KeyAgreement.PrivateKey()]
        while try sharedSecret(of: others[others.count - 1], with: own)[0] != 0 {
            others.append(P256.KeyAgreement.PrivateKey())
        }
        for other in [others[0], others[others.count - 1]] {
            let given = try await agree(bench, key, [UInt8](other.publicKey.x963Representation))
            #expect(try given.bytes.copy == sharedSecret(of: other, with: own))
        }
        try await bench.expectNothingLeft()
    }

    @Test func `the same key signs, and the signature verifies with openssl`() async throws {
        let bench = try await Bench()
        let key = try await agreementKey(bench)
        let message: [UInt8] = Array("a message".utf8)
        let signature = try await bench.run { tpm throws(TPMError) in
            try tpm.sign(
                digest: Array(SHA256.hash(data: message)),
                with: key,
                under: bench.root,
                meeting: bench.policy,
                with: bench.credentials
            )
        }
        try bench.chip.write(message, to: "message")
        try bench.chip.write(subjectPublicKeyInfo(#require(key.publicPoint)), to: "key.der")
        try bench.chip.write(derSignature(signature), to: "signature")
        let verify = ["dgst", "-sha256", "-verify", "key.der", "-keyform", "DER", "-signature", "signature"]
        let outcome = try bench.chip.run("openssl", arguments: verify + ["message"])
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        try await bench.expectNothingLeft()
    }

    @Test func `what is no point of the curve is told as such, and leaves nothing`() async throws {
        let bench = try await Bench()
        let key = try await agreementKey(bench)
        var moved = [UInt8](P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        moved[64] ^= 1
        let zero = [UInt8]([4]) + Array(repeating: 0, count: 64)
        let beyond = [UInt8]([4]) + Array(repeating: 255, count: 64)
        for bytes in [moved, zero, beyond] {
            let error = try await failure { () async throws(TPMError) in
                try await self.agree(bench, key, bytes)
            }
            #expect(error.code == .pointRefused, "\(error)")
            #expect(error.command == "TPM2_ECDH_ZGen")
        }
        try await bench.expectNothingLeft()
    }

    @Test func `a key that only signs does not agree`() async throws {
        let bench = try await Bench()
        let key = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.signingKey, under: bench.root, policy: bench.policy.digest)
        }
        let point = [UInt8](P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let error = try await failure { () async throws(TPMError) in try await self.agree(bench, key, point) }
        #expect(error.command == "TPM2_ECDH_ZGen")
        try await bench.expectNothingLeft()
    }

    @Test func `it is bound to its chip, its policy is the only way to it, and it reads back`() async throws {
        let bench = try await Bench()
        let key = try await agreementKey(bench)
        #expect(key.kind == .agreementKey && key.policy == bench.policy.digest)
        #expect(try TPMObject(serialized: key.serialized) == key)
        var wrong = Credentials()
        wrong.add(bench.authority, auth: secret([9]))
        let bad = wrong
        let point = try #require(
            ECPoint(x963: Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation))
        )
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.sharedSecret(
                        with: point,
                        of: key,
                        under: bench.root,
                        meeting: bench.policy,
                        with: bad
                    )
                )
            }
        }
        #expect(error.code == .authFailed && error.command == "TPM2_PolicySecret")
        #expect(ECPoint(x963: [4]) == nil && ECPoint(x963: [2] + point.x + point.y) == nil)
        try await bench.expectNothingLeft()
    }

    private func agreementKey(_ bench: Bench) async throws -> TPMObject {
        try await bench.run { tpm throws(TPMError) in
            try tpm.create(.agreementKey, under: bench.root, policy: bench.policy.digest)
        }
    }

    private func agree(_ bench: Bench, _ key: TPMObject, _ x963: [UInt8]) async throws(TPMError) -> SecretBox
    {
        guard let point = ECPoint(x963: x963) else { throw TPMError(.malformed) }
        return try await bench.run { tpm throws(TPMError) in
            SecretBox(
                try tpm.sharedSecret(
                    with: point,
                    of: key,
                    under: bench.root,
                    meeting: bench.policy,
                    with: bench.credentials
                )
            )
        }
    }
}

/// What the other side comes to.
func sharedSecret(of other: P256.KeyAgreement.PrivateKey, with point: ECPoint) throws -> [UInt8] {
    let key = try P256.KeyAgreement.PublicKey(x963Representation: [4] + point.x + point.y)
    return try other.sharedSecretFromKeyAgreement(with: key).withUnsafeBytes { Array($0) }
}
