// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// A challenge that a device is to answer.
public struct IssuedChallenge: Sendable, Hashable {
    /// The challenge, 32 bytes; the server itself keeps nothing of it.
    public let challenge: Data
    /// The time when it expires, in seconds since 1970.
    public let expiresAt: Int
}

/// A device whose key a user has registered.
public struct RegisteredDevice: Sendable, Hashable {
    /// The operator or device that has vouched for a device's key.
    ///
    /// A thief of the user's password can register a key made in software. Only the approval of an operator, or of a
    /// device that was approved before, shows that the device is the user's and that its key is in a chip.
    public enum Approval: Sendable, Hashable {
        /// An operator of the server has looked at the key.
        case byOperator
        /// A device of the same user that was approved itself: it signed in to register this key.
        case byDevice(LoginName)

        /// The approval as stores keep it: `operator`, or `device ` and its name.
        public var text: String {
            switch self {
            case .byOperator: "operator"
            case .byDevice(let device): "device \(device.text)"
            }
        }

        /// Reads ``text``; `nil` for anything else.
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
    /// The name that the device's programs use.
    public let device: LoginName
    /// The public key of the device.
    public let key: LoginKey
    /// The name for people, 1 to 128 bytes.
    public let name: String
    /// The time when it was enabled, in seconds since 1970.
    public let enabledAt: Int
    /// The time when it last signed in, in seconds since 1970.
    public internal(set) var lastUsedAt: Int?
    /// The digest of the enrolled fingers when it was enabled; `nil` if there were none.
    public let domainState: Data?
    /// The operator or device that has approved this key; `nil` for a key that was enabled with the password alone.
    public let approval: Approval?
    /// The part of its protection that its chip has proven; `nil` for a key that came without an attestation.
    public let attestation: KeyAttestation?

    /// The thumbprint of its key (RFC 7638).
    public var keyID: String { key.id }

    /// Makes a device; stores make them of their rows.
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

/// The result of judging an assertion: the device's key signed it for this server, now, and the policy allows it.
///
/// The user has not signed in yet.
public struct ProvenAssertion: Sendable, Hashable {
    /// The claims of the device.
    public let claims: LoginClaims
    /// The device as the store had it.
    public let device: RegisteredDevice
    /// Whether other fingers are enrolled than when the device was enabled.
    let hasChangedFingers: Bool
    /// The nonce of the challenge; `nil` once it is used up.
    var nonce: Nonce?
}

/// A completed sign-in.
public struct SignIn: Sendable, Hashable {
    /// The claims of the device; `nil` if it signed a bare challenge.
    public let claims: LoginClaims?
    /// The device that signed in.
    public let device: RegisteredDevice
}

/// One line of the audit log.
public struct AuditEntry: Sendable, Hashable {
    /// The kind of event.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// A device's key was registered, perhaps in place of an older one.
        case enabled
        /// A device's key was not accepted from its user.
        case enableRefused = "enable_refused"
        /// A user signed in.
        case signedIn = "signed_in"
        /// A sign-in that named a device's key was refused.
        case signInRefused = "sign_in_refused"
        /// A device was revoked.
        case revoked
        /// An operator approved a device's key.
        case approved
        /// A device's name for people was changed.
        case renamed
        /// A password was right.
        case passwordAccepted = "password_accepted"
        /// A password was wrong, or the user does not exist.
        ///
        /// Strangers can cause this, in any name. So a store keeps a number of these lines, and the same number of all
        /// others together: neither pushes out the other.
        case passwordRefused = "password_refused"
        /// An operator gave a user another password.
        case passwordChanged = "password_changed"
        /// An operator added a user.
        case userAdded = "user_added"
        /// An operator removed a user.
        case userRemoved = "user_removed"
        /// A user ended one session.
        case sessionEnded = "session_ended"
        /// An operator ended all sessions of a user.
        case sessionsEnded = "sessions_ended"
        /// An operator had a new key for session tokens made.
        case keyRotated = "key_rotated"
        /// An operator dropped all keys for session tokens but a new one.
        case keysReplaced = "keys_replaced"
    }

    /// The time of the event, in seconds since 1970.
    public let at: Int
    /// The kind of event.
    public let event: Event
    /// The user concerned; `nil` if it concerns the server.
    public let user: LoginName?
    /// The device; `nil` if none was named.
    public let device: LoginName?
    /// The client's address, as the server gave it; empty if it is not known.
    public let address: String
    /// The reason of a refusal, such as ``RelyingPartyError/word``; of a sign-in, the methods that recognized the user,
    /// if the server gave them.
    public let reason: String?

    /// The user as stores keep it: empty if there is no user.
    public var userText: String { user?.text ?? "" }

    /// Returns the same line about a device, such as one of all that were revoked.
    public func of(_ device: LoginName) -> AuditEntry {
        AuditEntry(at: at, event: event, user: user, device: device, address: address, reason: reason)
    }

    /// Makes a line; stores make them of their rows.
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

/// An event that a server may want to count or report: it is sent once the result is certain, and holds no secret.
public enum RelyingPartyEvent: Sendable, Hashable {
    /// A challenge was issued.
    case challengeIssued(user: LoginName, device: LoginName?)
    /// A device was enabled.
    case enabled(RegisteredDevice)
    /// A user signed in.
    case signedIn(RegisteredDevice)
    /// A user signed in although other fingers are enrolled than when the device was enabled, and the policy allows it.
    case domainStateChanged(RegisteredDevice)
    /// A request was refused; its user and device are known only if it answered a challenge of theirs.
    case refused(RelyingPartyError, user: LoginName?, device: LoginName?)
    /// A device was revoked.
    case revoked(user: LoginName, device: LoginName)
    /// Old rows could not be removed; the removal is tried again.
    case purgeFailed(RelyingPartyError)
}
