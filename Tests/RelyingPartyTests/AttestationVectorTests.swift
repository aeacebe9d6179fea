// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

@testable import RelyingParty

/// What is accepted, and each way in which something is not; Python reads the same file.
@Suite struct `The vectors of attestations` {
    @Test func `are there, and have each result`() throws {
        let vectors = try #require(AttestationVectors.all).attestations
        // A certificate is judged by its authority, which is none of the vectors' business.
        let faults = Set(AttestationFault.allCases.map(\.rawValue)).subtracting(["endorsement"])
        #expect(Set(vectors.map(\.result)) == faults.union(["accepted"]))
        #expect(Set(vectors.map(\.name)).count == vectors.count)
    }

    // Docs/Security.md: L19
    @Test(arguments: AttestationVectors.all?.attestations ?? [])
    func `each has the result that it says`(vector: AttestationVectors.Attestation) throws {
        let (result, opensFor) = try Self.result(of: vector)
        #expect(result == vector.result)
        #expect(opensFor == vector.opensFor)
    }

    @Test func `have the same results in Python`() throws {
        let count = try #require(AttestationVectors.all).attestations.count + 1
        let answer = try AttestationVectors.python(["check", AttestationVectors.file.path])
        #expect(answer == "\(count) vectors, 0 wrong")
    }

    /// The certificate is judged elsewhere, and the credential's secret depends on the chip's two keys.
    @Test func `no byte of an attestation can be changed, but for what the credential depends on`() throws {
        let vector = try #require(AttestationVectors.all?.attestations.first)
        let statement = try #require(
            Base64URL.decode(vector.attestation).flatMap(AttestationStatement.init(encoded:))
        )
        let bytes = statement.encoded
        let before = 9 + 2 + statement.nonce.count + 2
        let parts = [statement.endorsementKey, statement.certificate, statement.attestationKey]
        let free = before..<before + parts.reduce(4) { $0 + $1.count }
        for index in bytes.indices where !free.contains(index) {
            var changed = bytes
            changed[index] ^= 1
            var vector = vector
            vector.attestation = Base64URL.encode(changed)
            #expect(try Self.result(of: vector).0 != "accepted", "byte \(index)")
        }
    }

    private static func result(of vector: AttestationVectors.Attestation) throws -> (String, [String]) {
        let key = try #require(Base64URL.decode(vector.publicKey).flatMap { LoginKey(der: $0) })
        let secret = try #require(Base64URL.decode(vector.secret))
        guard
            let statement = Base64URL.decode(vector.attestation).flatMap(AttestationStatement.init(encoded:))
        else { return ("malformed", []) }
        do throws(AttestationFault) {
            return ("accepted", try AttestationCheck(statement: statement).run(key, secret: secret).opensFor)
        } catch {
            return (error.rawValue, [])
        }
    }
}
