// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

/// An error of the relying party: a request was refused, or could not be judged.
///
/// It contains no part of a challenge, an assertion or a signature.
public struct RelyingPartyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Code: Sendable, Hashable {
        /// The request is not in the form that a device sends; nothing was looked up.
        case malformed
        /// The challenge was not issued for this user, device and purpose, is too old, or was answered before.
        case challengeUnknown
        /// The assertion lacks a required claim or has a wrong one, or its signature is wrong.
        case assertionRefused(AssertionFault)
        /// The server does not know the device's key: it was revoked or replaced, or was never registered.
        case unknownKey
        /// The key belongs to another user or another device.
        case keyInUse
        /// Other fingers are enrolled than when the device was enabled.
        case reenableRequired
        /// The limit of the address, the user or the device is reached; `retryAfter` is in seconds.
        case tooManyTries(retryAfter: Int)
        /// The user already has the maximum number of devices.
        case tooManyDevices
        /// The session or password that was to enable a device has been revoked.
        case authorizationRevoked
        /// The server wants an attestation, and none came with the key.
        case attestationRequired
        /// The attestation does not hold.
        case attestationRefused(AttestationFault)
        /// A bare signature says nothing about fingers, and the server's policy asks about them.
        case rawRefused
        /// The store failed; the result of the request is unknown.
        case store
    }

    /// The kind of refusal.
    public let code: Code
    /// The system's or the database's own text and numbers, for the log; may be empty.
    public let cause: String

    /// Describes a refusal.
    public init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// One sentence that says what happened.
    public var message: String {
        switch code {
        case .malformed: "The request is not what a device sends."
        case .challengeUnknown: "The challenge is not for this sign-in, is too old, or was answered already."
        case .assertionRefused(let fault): "The assertion is refused: \(fault.words)."
        case .unknownKey: "The key of this device is not known."
        case .keyInUse: "The key belongs to another device."
        case .reenableRequired: "The enrolled fingers have changed since the device was enabled."
        case .tooManyTries(let seconds): "There were too many tries; the next one may come in \(seconds) s."
        case .tooManyDevices: "The user has as many devices as one may have."
        case .authorizationRevoked: "The session or password that was to enable the device has been revoked."
        case .attestationRequired: "The server takes only keys whose chip proves what guards them."
        case .attestationRefused(let fault): "The attestation is refused: \(fault.words)."
        case .rawRefused:
            "A bare signature is refused, since it does not say whether the fingers have changed."
        case .store: "The server's database cannot be used."
        }
    }

    /// One sentence that says what the person or the program can do.
    public var remedy: String {
        switch code {
        case .malformed: "Send what Docs/LoginProtocol.md describes."
        case .challengeUnknown: "Ask for a new challenge and sign that one."
        case .assertionRefused(let fault): fault.remedy
        case .unknownKey: "Delete the key on the device and enable the device again."
        case .keyInUse: "Make a new key on this device and enable that one."
        case .reenableRequired: "Enable the device again."
        case .tooManyTries: "Wait, then try again."
        case .tooManyDevices: "Revoke a device that is no longer used."
        case .authorizationRevoked: "Sign in again, then enable the device."
        case .attestationRequired: "Enable the device with an attestation."
        case .attestationRefused(let fault): fault.remedy
        case .rawRefused: "Sign an assertion, or have the server's policy allow changed fingers."
        case .store: "Look into the server's log, and try again when the database is back."
        }
    }

    /// The kind as one word, for metrics and the audit log.
    public var word: String {
        switch code {
        case .malformed: "malformed"
        case .challengeUnknown: "challenge_unknown"
        case .assertionRefused(let fault): "assertion_\(fault.rawValue)"
        case .unknownKey: "unknown_key"
        case .keyInUse: "key_in_use"
        case .reenableRequired: "reenable_required"
        case .tooManyTries: "too_many_tries"
        case .tooManyDevices: "too_many_devices"
        case .authorizationRevoked: "authorization_revoked"
        case .attestationRequired: "attestation_required"
        case .attestationRefused(let fault): "attestation_\(fault.rawValue)"
        case .rawRefused: "raw_refused"
        case .store: "store"
        }
    }

    /// For logs: the kind and its cause.
    public var description: String { cause.isEmpty ? word : "\(word) (\(cause))" }
}

extension AssertionFault {
    fileprivate var words: String {
        switch self {
        case .malformed: "it is not what a device writes"
        case .purpose: "it is for another purpose"
        case .origin: "it is for another server"
        case .user: "it is another user's"
        case .device: "it is another device's"
        case .key: "it is signed with another key than the device's"
        case .challenge: "it answers another challenge"
        case .signature: "its signature is not of the device's key"
        case .expired: "it is too old"
        case .notYetValid: "it comes from the future"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .expired, .notYetValid: "Set the device's clock, then try again."
        case .origin: "Name the server by its own origin."
        case .malformed, .purpose, .user, .device, .key, .challenge, .signature:
            "Ask for a new challenge and sign that one with the key of this device."
        }
    }
}

extension AttestationFault {
    fileprivate var words: String {
        switch self {
        case .malformed: "it is not what a device sends"
        case .endorsement: "the chip's certificate is not of a maker that this server trusts"
        case .credential: "it answers no credential of this server, or one that is too old"
        case .statement: "the chip's statement is not about this key"
        case .key: "the key is not bound to its chip and its policy"
        case .policy: "the key's policy is not one that is known"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .malformed: "Send what Docs/LoginProtocol.md describes."
        case .endorsement: "Have the operator name the authority that has signed the chip's certificate."
        case .credential: "Ask for a new credential, and enable the device again."
        case .statement, .key, .policy: "Make a new key on the device, and enable that one."
        }
    }
}
