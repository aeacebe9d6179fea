// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// The protection that a TPM proved for a key when it was enabled.
///
/// A TPM cannot see fingers. The proof has three parts. The key was created in a TPM whose endorsement certificate is
/// signed by an authority that the operator trusts. It cannot leave that TPM. And the TPM uses it only for a program
/// that knows the authorization value of an object: one for a finger, another for the passcode.
///
/// The device's software knows the value for a finger, and nothing proves that the reader is honest.
public struct KeyAttestation: Sendable, Hashable {
    /// The strength of the proof; only one level is defined at present.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// A TPM protects the key; the user's software knows the authorization value for a finger match.
        case tpm
    }

    /// The fingers that unlock a key, as named in its policy.
    public enum Fingers: String, Sendable, Hashable, CaseIterable {
        /// Any enrolled finger.
        case any = "any_finger"
        /// The fingers that were enrolled when the key was created.
        case current = "current_fingers"
    }

    /// The strength of the proof.
    public let level: Level
    /// The fingers that unlock the key.
    public let fingers: Fingers
    /// Whether the passcode also unlocks the key.
    public let takesPasscode: Bool
    /// The digest of the key's policy, 32 bytes.
    public let policy: Data

    /// Creates a proof; stores create it from their rows.
    public init(level: Level, fingers: Fingers, takesPasscode: Bool, policy: Data) {
        self.level = level
        self.fingers = fingers
        self.takesPasscode = takesPasscode
        self.policy = policy
    }

    /// The ways to unlock the key, one word each: `any_finger` or `current_fingers`, and `passcode`.
    public var opensFor: [String] { [fingers.rawValue] + (takesPasscode ? ["passcode"] : []) }

    /// Returns the proof as text for a store, bound to its key.
    ///
    /// It contains the key, because a server of an earlier version leaves the text in place when it replaces a device's
    /// key.
    public func text(of key: LoginKey) -> String {
        ([key.id, level.rawValue, Base64URL.encode(policy)] + opensFor).joined(separator: " ")
    }

    /// Parses the output of ``text(of:)``; returns `nil` for anything else, and for the text of another key.
    public init?(text: String, of key: LoginKey) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard (4...5).contains(words.count), words[0] == key.id, let level = Level(rawValue: words[1]),
            let policy = Base64URL.decode(words[2].utf8), policy.count == 32,
            let fingers = Fingers(rawValue: words[3]), words.count == 4 || words[4] == "passcode"
        else { return nil }
        self.init(level: level, fingers: fingers, takesPasscode: words.count == 5, policy: policy)
    }
}

/// The reason why an attestation was refused.
public enum AttestationFault: String, Error, Sendable, Hashable, CaseIterable {
    /// The bytes do not have the format that devices send.
    case malformed
    /// The endorsement key has an unknown form, or its certificate belongs to another key or was not issued by an
    /// authority that the operator trusts.
    case endorsement
    /// The credential is too old, or was created for another TPM, which could not decrypt this server's secret.
    case credential
    /// The statement was not signed with the attestation key, or is about another key.
    case statement
    /// The key could leave its TPM, was not created there, or can be used without its policy.
    case key
    /// The policy is unknown, or its parts are not suitable for their purpose.
    case policy
}

/// Verifies an attestation, except for the certificate and the age of the credential.
///
/// | evidence | conclusion |
/// |---|---|
/// | the credential's secret in the statement | the attestation key is in the TPM that has the endorsement key |
/// | the attestation key's attributes | it signs only that TPM's statements |
/// | the statement | that TPM created the object with the key's name |
/// | the name | the public area belongs to the key: its attributes, its policy, its point |
/// | the policy's parts | what the TPM requires before it uses the key |
struct AttestationCheck {
    let statement: AttestationStatement

    /// Returns the protection that is proven for a key.
    ///
    /// - Parameters:
    ///   - key: The key that is being enabled.
    ///   - secret: The secret that the server put into the credential with this nonce, endorsement key and attestation
    ///     key.
    /// - Returns: The proof.
    /// - Throws: The first fault found.
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
