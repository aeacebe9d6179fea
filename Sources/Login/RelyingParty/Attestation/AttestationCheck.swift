// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion

/// The judgement of what a device has sent, but for the certificate and the credential's age.
///
/// | shown by | so |
/// |---|---|
/// | the credential's secret in the statement | the attestation key is in the chip that has the endorsement key |
/// | the attestation key's attributes | it signs only what that chip states |
/// | the statement | that chip has made the object with the key's name |
/// | the name | the public area is the key's own: its attributes, its policy, its point |
/// | the policy's parts | what the chip asks for before it uses the key |
struct AttestationCheck {
    let statement: AttestationStatement

    /// Returns what is proven of a key.
    ///
    /// - Parameters:
    ///   - key: The key that is being enabled.
    ///   - secret: The secret that the server has put into the credential of this nonce, endorsement key and attestation
    ///     key.
    /// - Returns: The proof.
    /// - Throws: The first fault.
    func run(_ key: LoginKey, secret: Data) throws(AttestationFault) -> KeyAttestation {
        guard
            let signer = TPMPublicArea(statement.attestationKey)?.attestationPoint.flatMap(
                LoginKey.init(x963:)
            ),
            signer.isValid(raw: statement.signature, over: statement.statement),
            let creation = CreationStatement(statement.statement)
        else { throw .statement }
        let proof = AttestationStatement.proof(nonce: statement.nonce, secret: secret)
        guard creation.extraData.isEqualInConstantTime(to: proof) else { throw .credential }
        guard let area = TPMPublicArea(statement.key), area.name == creation.name else { throw .statement }
        guard let point = area.guardedPoint, LoginKey(x963: point) == key else { throw .key }
        guard let policy = KeyPolicy(statement), policy.digest == area.policy else { throw .policy }
        return KeyAttestation(
            level: .tpm,
            fingers: policy.fingers,
            takesPasscode: policy.takesPasscode,
            policy: policy.digest
        )
    }
}
