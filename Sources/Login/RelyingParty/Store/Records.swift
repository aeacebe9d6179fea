// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// A challenge that a device is to answer.
public struct IssuedChallenge: Sendable, Hashable {
    /// 32 random bytes; the server itself keeps their digest only.
    public let challenge: Data
    /// From when on it is worth nothing, in seconds since 1970.
    public let expiresAt: Int
}

/// A device whose key a user has made known.
public struct RegisteredDevice: Sendable, Hashable {
    /// The operator or device that has vouched for a device's key.
    ///
    /// A thief of the user's password can make a key in software known. That it is the user's device, and that its key is in
    /// a chip, is believed where a device that was approved before, or an operator, says so.
    public enum Approval: Sendable, Hashable {
        /// An operator of the server has looked at the key.
        case byOperator
        /// A device of the same user that was approved itself: it signed in to make this key known.
        case byDevice(LoginName)

        /// As stores keep it: `operator`, or `device ` and its name.
        package var text: String {
            switch self {
            case .byOperator: "operator"
            case .byDevice(let device): "device \(device.text)"
            }
        }

        /// Reads ``text``; `nil` for anything else.
        package init?(text: String) {
            if text == "operator" {
                self = .byOperator
            } else if text.hasPrefix("device "), let device = LoginName(String(text.dropFirst(7))) {
                self = .byDevice(device)
            } else {
                return nil
            }
        }
    }

    /// Whose it is.
    public let user: LoginName
    /// What its programs call it.
    public let device: LoginName
    /// Its key.
    public let key: LoginKey
    /// What people call it, 1 to 128 bytes.
    public let name: String
    /// When it was enabled, in seconds since 1970.
    public let enabledAt: Int
    /// When it last signed in, in seconds since 1970.
    public let lastUsedAt: Int?
    /// The digest of the enrolled fingers when it was enabled; `nil` where there were none.
    public let domainState: Data?
    /// The operator or device that has approved this key; `nil` for a key that was enabled with the password alone.
    public let approval: Approval?

    /// The thumbprint of its key (RFC 7638).
    public var keyID: String { key.id }

    /// Describes a device; stores make them of what they hold.
    public init(
        user: LoginName,
        device: LoginName,
        key: LoginKey,
        name: String,
        enabledAt: Int,
        lastUsedAt: Int?,
        domainState: Data?,
        approval: Approval? = nil
    ) {
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
/// The user has not signed in yet; the challenge is used up.
public struct ProvenAssertion: Sendable, Hashable {
    /// What the device said.
    public let claims: LoginClaims
    /// The device as it was found.
    public let device: RegisteredDevice
    /// Whether other fingers are enrolled than when the device was enabled.
    let hasChangedFingers: Bool
}

/// Somebody has signed in.
public struct SignIn: Sendable, Hashable {
    /// What the device said; `nil` where it signed a bare challenge.
    public let claims: LoginClaims?
    /// With which device.
    public let device: RegisteredDevice
}

/// One line of the audit log.
public struct AuditEntry: Sendable, Hashable {
    /// What happened.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// A device's key was made known, in place of an older one perhaps.
        case enabled
        /// A device's key was not accepted from its user.
        case enableRefused = "enable_refused"
        /// Somebody signed in.
        case signedIn = "signed_in"
        /// Somebody answered a challenge in the name of a device's key, and was not let in.
        case signInRefused = "sign_in_refused"
        /// A device was revoked.
        case revoked
        /// An operator approved a device's key.
        case approved
        /// A device has another name for people.
        case renamed
        /// A password was right.
        case passwordAccepted = "password_accepted"
        /// A password was wrong, or is of a user who is not there.
        ///
        /// Strangers can bring this about, in any name: a store keeps so many of these lines and of all others together, so
        /// that neither pushes out the other.
        case passwordRefused = "password_refused"
        /// An operator gave a user another password.
        case passwordChanged = "password_changed"
        /// An operator added a user.
        case userAdded = "user_added"
        /// An operator removed a user.
        case userRemoved = "user_removed"
        /// An operator ended all sessions of a user.
        case sessionsEnded = "sessions_ended"
        /// An operator had a new key for session tokens made.
        case keyRotated = "key_rotated"
        /// An operator dropped all keys for session tokens but a new one.
        case keysReplaced = "keys_replaced"
    }

    /// When, in seconds since 1970.
    public let at: Int
    /// What happened.
    public let event: Event
    /// To whom; `nil` where it concerns the server.
    public let user: LoginName?
    /// On which device; `nil` where none was named.
    public let device: LoginName?
    /// From which address, as the server said; empty where it is not known.
    public let address: String
    /// Why it was refused, such as ``RelyingPartyError/word``; of a sign-in, how the user was recognised, where the server
    /// has said so.
    public let reason: String?

    /// The user as stores keep it: empty where there is none.
    package var userText: String { user?.text ?? "" }

    /// Describes a line; stores make them of what they hold.
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

/// What a server may want to count or tell: it happens once the answer is certain, and holds no secret.
public enum RelyingPartyEvent: Sendable, Hashable {
    /// A challenge was given out.
    case challengeIssued(user: LoginName, device: LoginName?)
    /// A device was enabled.
    case enabled(RegisteredDevice)
    /// Somebody signed in.
    case signedIn(RegisteredDevice)
    /// Somebody signed in where other fingers are enrolled than when the device was enabled, and the policy allows it.
    case domainStateChanged(RegisteredDevice)
    /// A request was refused; whom it named is known only where it answered a challenge of theirs.
    case refused(RelyingPartyError, user: LoginName?, device: LoginName?)
    /// A device was revoked.
    case revoked(user: LoginName, device: LoginName)
    /// Old rows could not be removed; it is tried again.
    case purgeFailed(RelyingPartyError)
}
