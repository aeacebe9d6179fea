// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// A challenge for a device.
public struct IssuedChallenge: Sendable, Hashable {
    /// The challenge, 32 bytes; the server does not store it.
    public let challenge: Data
    /// The time when the challenge expires, in seconds since 1970.
    public let expiresAt: Int
}

/// A device whose key a user has registered.
public struct RegisteredDevice: Sendable, Hashable {
    /// The operator or device that approved a device's key.
    ///
    /// Someone who stole the user's password can register a software key. Only the approval of an operator, or of an
    /// approved device, shows that the device belongs to the user and that its key is in a TPM.
    public enum Approval: Sendable, Hashable {
        /// An operator of the server verified the key.
        case byOperator
        /// An approved device of the same user signed in to register this key.
        case byDevice(LoginName)

        /// The approval as text for a store: `operator`, or `device ` followed by the device's name.
        public var text: String {
            switch self {
            case .byOperator: "operator"
            case .byDevice(let device): "device \(device.text)"
            }
        }

        /// Parses an approval; returns `nil` if the text is not the output of ``text``.
        public init?(text: String) {
            if text == "operator" {
                self = .byOperator
            } else if text.hasPrefix("device "), let device = LoginName(String(text.dropFirst(7))) {
                self = .byDevice(device)
            } else {
                return nil
            }
        }
    }

    /// The owner of the device.
    public let user: LoginName
    /// The name of the device that its programs use.
    public let device: LoginName
    /// The public key of the device.
    public let key: LoginKey
    /// The display name, 1 to 128 bytes.
    public let name: String
    /// The time when the device was enabled, in seconds since 1970.
    public let enabledAt: Int
    /// The time when the device last signed in, in seconds since 1970; `nil` if it never has.
    public internal(set) var lastUsedAt: Int?
    /// The digest of the enrolled fingers when the device was enabled; `nil` if no finger was enrolled.
    public let domainState: Data?
    /// The operator or device that approved this key; `nil` for a key that was enabled with only the password.
    public let approval: Approval?
    /// The protection that the device's TPM has proven; `nil` for a key without an attestation.
    public let attestation: KeyAttestation?

    /// The thumbprint of the device's key (RFC 7638).
    public var keyID: String { key.id }

    /// Creates a device; stores create it from their rows.
    public init(
        user: LoginName,
        device: LoginName,
        key: LoginKey,
        name: String,
        enabledAt: Int,
        lastUsedAt: Int?,
        domainState: Data?,
        approval: Approval? = nil,
        attestation: KeyAttestation? = nil
    ) {
        self.attestation = attestation
        self.approval = approval
        self.user = user
        self.device = device
        self.key = key
        self.name = name
        self.enabledAt = enabledAt
        self.lastUsedAt = lastUsedAt
        self.domainState = domainState
    }
}

/// A verified assertion: the device's key has just signed it for this server, and the policy allows it.
///
/// The user has not signed in yet.
public struct ProvenAssertion: Sendable, Hashable {
    /// The claims of the device.
    public let claims: LoginClaims
    /// The device, as found in the store.
    public let device: RegisteredDevice
    /// Whether the enrolled fingers have changed since the device was enabled.
    let hasChangedFingers: Bool
    /// The nonce of the challenge; `nil` once the challenge is used up.
    var nonce: Nonce?
}

/// A completed sign-in.
public struct SignIn: Sendable, Hashable {
    /// The claims of the device; `nil` if it signed only the bare challenge.
    public let claims: LoginClaims?
    /// The device that signed in.
    public let device: RegisteredDevice
}

/// One entry of the audit log.
public struct AuditEntry: Sendable, Hashable {
    /// The type of event.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// A device's key was registered, possibly replacing an older one.
        case enabled
        /// The key of a user's device was refused.
        case enableRefused = "enable_refused"
        /// A user signed in.
        case signedIn = "signed_in"
        /// A sign-in that named a device's key was refused.
        case signInRefused = "sign_in_refused"
        /// A device was revoked.
        case revoked
        /// An operator approved a device's key.
        case approved
        /// A device's display name was changed.
        case renamed
        /// A user's password was correct.
        case passwordAccepted = "password_accepted"
        /// A password was wrong, or the user does not exist.
        ///
        /// Outsiders can cause this event for any name. A store therefore limits the number of these entries separately
        /// from that of all others, so that neither kind displaces the other.
        case passwordRefused = "password_refused"
        /// An operator changed a user's password.
        case passwordChanged = "password_changed"
        /// An operator added a user.
        case userAdded = "user_added"
        /// An operator removed a user.
        case userRemoved = "user_removed"
        /// A user ended one session.
        case sessionEnded = "session_ended"
        /// An operator ended all sessions of a user.
        case sessionsEnded = "sessions_ended"
        /// An operator created a new key for session tokens.
        case keyRotated = "key_rotated"
        /// An operator replaced all keys for session tokens with a new one.
        case keysReplaced = "keys_replaced"
    }

    /// The time of the event, in seconds since 1970.
    public let at: Int
    /// The type of event.
    public let event: Event
    /// The affected user; `nil` for the server.
    public let user: LoginName?
    /// The device; `nil` if no device was named.
    public let device: LoginName?
    /// The client's address as provided by the server; empty if unknown.
    public let address: String
    /// The reason for a refusal, such as ``RelyingPartyError/word``; for a sign-in, the methods that authenticated the
    /// user, if the server provided them.
    public let reason: String?

    /// The user as text for a store; empty if there is no user.
    public var userText: String { user?.text ?? "" }

    /// Returns the same entry for a given device, for example when all devices are revoked.
    public func of(_ device: LoginName) -> AuditEntry {
        AuditEntry(at: at, event: event, user: user, device: device, address: address, reason: reason)
    }

    /// Creates an entry; stores create it from their rows.
    public init(
        at: Int,
        event: Event,
        user: LoginName?,
        device: LoginName?,
        address: String,
        reason: String? = nil
    ) {
        self.at = at
        self.event = event
        self.user = user
        self.device = device
        self.address = address
        self.reason = reason
    }
}

/// An event for statistics and reports, sent once the result is certain; it contains no secrets.
public enum RelyingPartyEvent: Sendable, Hashable {
    /// A challenge was issued.
    case challengeIssued(user: LoginName, device: LoginName?)
    /// A device was enabled.
    case enabled(RegisteredDevice)
    /// A user signed in.
    case signedIn(RegisteredDevice)
    /// A user signed in although the enrolled fingers have changed since the device was enabled, because the policy
    /// allows it.
    case domainStateChanged(RegisteredDevice)
    /// A request was refused; its user and device are known only if it responded to a challenge that was issued to
    /// them.
    case refused(RelyingPartyError, user: LoginName?, device: LoginName?)
    /// A device was revoked.
    case revoked(user: LoginName, device: LoginName)
    /// Old rows could not be removed; the server will try again.
    case purgeFailed(RelyingPartyError)
}
