// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion

@testable import RelyingParty

extension FuzzTarget {
    static let attestationTargets: [FuzzTarget] = [
        FuzzTarget(name: "attestation", longestInput: 2048, check: attestation),
        FuzzTarget(name: "tpm-areas", longestInput: 512, check: areas),
    ]

    private static let key = LoginKey(x963: P256.Signing.PrivateKey().publicKey.x963Representation)

    /// An attestation has one form, and none is accepted for a secret and a key that it was not made for.
    private static func attestation(_ input: [UInt8]) throws(BrokenPromise) {
        guard let statement = AttestationStatement(encoded: Data(input)), let key else { return }
        try promise(statement.encoded == Data(input), "an attestation has two forms")
        let proof = try? AttestationCheck(statement: statement).run(key, secret: Data(count: 32))
        try promise(proof == nil, "an attestation of something else is accepted")
        guard let policy = KeyPolicy(statement) else { return }
        try promise(policy.digest.count == 32, "a policy of another size")
        try promise(policy.takesPasscode == !statement.passcode.isEmpty, "a policy of other parts")
    }

    /// A public area has one part in an attestation, and its name is made of all its bytes.
    private static func areas(_ input: [UInt8]) throws(BrokenPromise) {
        let bytes = Data(input)
        if let area = TPMPublicArea(bytes) {
            try promise(area.name == Data([0, 11]) + SHA256.hash(data: bytes), "a name of other bytes")
            let parts = [
                area.endorsementKey != nil, area.attestationPoint != nil, area.guardedPoint != nil,
                area.isAuthority,
            ]
            try promise(parts.count { $0 } <= 1, "an object that is two things")
            try promise(area.isAuthority || !area.isCountedAuthority, "a passcode that is no authority")
            try promise(CreationStatement(bytes) == nil && TPMCounter(bytes) == nil, "an area of two kinds")
        }
        if let counter = TPMCounter(bytes) {
            try promise(counter.writePolicy.count == 32 && input.count == 46, "a counter of another size")
        }
        if let statement = CreationStatement(bytes) {
            try promise(bytes.starts(with: [0xff, 0x54, 0x43, 0x47, 0x80, 0x1a]), "no statement of a TPM")
            try promise(
                statement.name.count + statement.extraData.count < input.count,
                "bytes from elsewhere"
            )
        }
    }
}
