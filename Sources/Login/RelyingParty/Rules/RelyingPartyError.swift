// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

/// An error of the relying party: a request was refused, or its result could not be determined.
///
/// It contains no part of a challenge, an assertion or a signature.
public struct RelyingPartyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Code: Sendable, Hashable {
        /// The request does not have the format that devices send; nothing was looked up.
        case malformed
        /// The challenge was not issued for this user, device and purpose, is too old, or was used before.
        case challengeUnknown
        /// The assertion lacks a required claim or contains a wrong one, or its signature is wrong.
        case assertionRefused(AssertionFault)
        /// The server does not know the device's key: it was revoked or replaced, or was never registered.
        case unknownKey
        /// The key belongs to another user or another device.
        case keyInUse
        /// The enrolled fingers have changed since the device was enabled.
        case reenableRequired
        /// The rate limit of the address, the user or the device has been reached; `retryAfter` is in seconds.
        case tooManyTries(retryAfter: Int)
        /// The user already has the maximum number of devices.
        case tooManyDevices
        /// The session or password used to enable a device has been revoked.
        case authorizationRevoked
        /// The server requires an attestation, but the request did not contain one.
        case attestationRequired
        /// The attestation is invalid.
        case attestationRefused(AttestationFault)
        /// The request has a bare signature, without the information about fingers that the server's policy requires.
        case rawRefused
        /// The store failed; the result of the request is unknown.
        case store
    }

    /// The kind of refusal.
    public let code: Code
    /// The system's or the database's message and codes, for the log; may be empty.
    public let cause: String

    /// Creates an error.
    public init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// A sentence that describes the failure.
    public var message: String {
        switch code {
        case .malformed: "Malformed request."
        case .challengeUnknown: "The challenge is for another sign-in, expired, or already used."
        case .assertionRefused(let fault): "Assertion rejected: \(fault.words)."
        case .unknownKey: "Unknown device key."
        case .keyInUse: "The key belongs to another device."
        case .reenableRequired: "The enrolled fingers changed since the device was enabled."
        case .tooManyTries(let seconds): "Too many attempts. Try again in \(seconds) s."
        case .tooManyDevices: "The user's device limit has been reached."
        case .authorizationRevoked: "The session or password used to enable the device has been revoked."
        case .attestationRequired: "The server requires an attested key."
        case .attestationRefused(let fault): "Attestation rejected: \(fault.words)."
        case .rawRefused:
            "A plain signature is not accepted, because it does not show whether the fingers changed."
        case .store: "The server's database is unavailable."
        }
    }

    /// A sentence that tells the user or the program what to do.
    public var remedy: String {
        switch code {
        case .malformed: "Send the request as described in Docs/LoginProtocol.md."
        case .challengeUnknown: "Request a new challenge and sign it."
        case .assertionRefused(let fault): fault.remedy
        case .unknownKey: "Delete the key on the device and enable the device again."
        case .keyInUse: "Create a new key on this device and enable it."
        case .reenableRequired: "Enable the device again."
        case .tooManyTries: "Wait, then try again."
        case .tooManyDevices: "Revoke a device that is no longer used."
        case .authorizationRevoked: "Sign in again, then enable the device."
        case .attestationRequired: "Enable the device with an attestation."
        case .attestationRefused(let fault): fault.remedy
        case .rawRefused: "Sign an assertion, or change the server's policy to allow changed fingers."
        case .store: "Check the server's log, and try again when the database is available."
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

    /// The kind and its cause, for logs.
    public var description: String { cause.isEmpty ? word : "\(word) (\(cause))" }
}

extension AssertionFault {
    fileprivate var words: String {
        switch self {
        case .malformed: "it is malformed"
        case .purpose: "it is for another purpose"
        case .origin: "it is for another server"
        case .user: "it is for another user"
        case .device: "it is for another device"
        case .key: "it is not signed with the device's key"
        case .challenge: "it is for another challenge"
        case .signature: "its signature does not match the device's key"
        case .expired: "it has expired"
        case .notYetValid: "its time is in the future"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .expired, .notYetValid: "Correct the device's clock, then try again."
        case .origin: "Use the server's own origin."
        case .malformed, .purpose, .user, .device, .key, .challenge, .signature:
            "Request a new challenge and sign it with this device's key."
        }
    }
}

extension AttestationFault {
    fileprivate var words: String {
        switch self {
        case .malformed: "it is malformed"
        case .endorsement: "the TPM's certificate is not from a manufacturer this server trusts"
        case .credential: "the credential is not from this server, or has expired"
        case .statement: "the TPM's statement is about another key"
        case .key: "the key is not bound to its TPM and policy"
        case .policy: "the key's policy is unknown"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .malformed: "Send the request as described in Docs/LoginProtocol.md."
        case .endorsement: "Ask the operator to trust the authority that signed the TPM's certificate."
        case .credential: "Request a new credential, and enable the device again."
        case .statement, .key, .policy: "Create a new key on the device, and enable it."
        }
    }
}
