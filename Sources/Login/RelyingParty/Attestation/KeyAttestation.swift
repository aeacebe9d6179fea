// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// The part of a key's protection that its TPM has proven when the key was enabled.
///
/// A chip cannot see fingers. The proof says: the key was made in a TPM whose endorsement certificate an operator's
/// authority has signed; it cannot leave that TPM; and the TPM uses it only for a program that shows the value of one
/// object (for a finger) or of another (the passcode). Software of the device holds the value that is shown for a
/// finger, and the reader's honesty is not proven.
public struct KeyAttestation: Sendable, Hashable {
    /// The strength of the proof; the only one so far.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// A TPM guards the key; the user's software holds the value that it asks for where a finger was shown.
        case tpm
    }

    /// The fingers that open a key, in the words of its policy.
    public enum Fingers: String, Sendable, Hashable, CaseIterable {
        /// Any finger that is enrolled.
        case any = "any_finger"
        /// The fingers that were enrolled when the key was made.
        case current = "current_fingers"
    }

    /// The strength of the proof.
    public let level: Level
    /// The fingers that open the key.
    public let fingers: Fingers
    /// Whether the passcode opens it too.
    public let takesPasscode: Bool
    /// The digest of the key's policy, 32 bytes.
    public let policy: Data

    /// Describes a proof; stores make them of their rows.
    public init(level: Level, fingers: Fingers, takesPasscode: Bool, policy: Data) {
        self.level = level
        self.fingers = fingers
        self.takesPasscode = takesPasscode
        self.policy = policy
    }

    /// The ways to open the key, each as a word: `any_finger` or `current_fingers`, and `passcode`.
    public var opensFor: [String] { [fingers.rawValue] + (takesPasscode ? ["passcode"] : []) }

    /// The proof as stores keep it, beside the key that it is about: an instance of an earlier version gives a device
    /// another key, and does not know this text.
    public func text(of key: LoginKey) -> String {
        ([key.id, level.rawValue, Base64URL.encode(policy)] + opensFor).joined(separator: " ")
    }

    /// Reads ``text(of:)``; `nil` for anything else, and for another key's.
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
    /// The bytes do not have the form that a device sends.
    case malformed
    /// The endorsement key is not of a form that is known, or its certificate is not of an authority that the operator
    /// named, or is another key's.
    case endorsement
    /// The credential is too old, or was made for somebody else: the chip could not take this server's secret out of it.
    case credential
    /// The statement is not signed by the attestation key, or is about another key.
    case statement
    /// The key could leave its TPM, was not made there, or is used without its policy.
    case key
    /// The policy is not one of those that are known, or its parts are not what they are sent for.
    case policy
}

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
