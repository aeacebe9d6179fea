// SPDX-License-Identifier: Apache-2.0

public import Authentication
public import LoginAssertion
public import LoginTransport
public import StateStore
public import Vault

/// Why nobody was signed in, or why a key was not made, used or deleted.
///
/// It holds no password, token, challenge or signature, and no text of the server's.
public struct LoginError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        /// There is no login on this device for that server and user, or no key of that name.
        case notEnabled
        /// The key cannot sign in: the user signs in in the usual way, then enables again.
        ///
        /// It was deleted where the device itself found that nothing opens it; one that the server refused stays
        /// until the login is enabled again.
        case mustEnableAgain(Reason)
        /// Another user has enabled the login to this server on this device.
        case otherAccount(LoginName)
        /// Several users have, and none was named.
        case severalAccounts
        /// The name cannot be used: HTTP takes no colon in it.
        case userUnusable
        /// The device's name cannot be used.
        case deviceNameUnusable
        /// The claims of the program's own are too many or too long.
        case claimsRefused
        /// The owner of the device was not recognised.
        case evaluation(AuthenticationError)
        /// What was shown was not enough for the key in the end, as where a finger was removed meanwhile.
        case notReleased
        /// The vault or the chip refused.
        case vault(VaultError)
        /// The state directory failed.
        case store(StateError)
        /// Another task or program has changed the login on this device meanwhile, as by disabling it.
        case changedMeanwhile
        /// The keychain's row could not be read or written; the number is its status.
        case keychain(Int32)
        /// No answer came.
        case transport(LoginTransportError)
        /// What came is no answer of the protocol.
        case answerRefused(AnswerFault)
        /// The password or the session token is not right.
        case unauthorized
        /// The server refused.
        case refused(Refusal)
        /// The server takes no more tries for so many seconds.
        case tooManyTries(seconds: Int)
        /// The server cannot do it now; its status.
        case serverFailed(status: Int)
    }

    /// Why a key is of no use any more.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The server does not know the key: it was revoked, or replaced.
        case unknownToServer
        /// The server takes no key after the fingers changed.
        case serverWantsItAgain
        /// A finger was added or removed, and the key is bound to the set that was.
        case fingersChanged
        /// The chip was cleared or replaced, or the record is not what was stored.
        case keyLost

        /// Whether the server said so, which may take it back, and not this device.
        var isServers: Bool {
            switch self {
            case .unknownToServer, .serverWantsItAgain: true
            case .fingersChanged, .keyLost: false
            }
        }
    }

    /// What is wrong with an answer.
    public enum AnswerFault: String, Sendable, Hashable, CaseIterable {
        /// It is larger than any of the protocol.
        case tooLarge
        /// It sends elsewhere.
        case redirected
        /// Its form is another one.
        case malformed
        /// It comes from a server that calls itself otherwise.
        case otherOrigin
        /// It is about another user, device or key.
        case otherDevice
    }

    /// Why the server refused; the names are the protocol's.
    public enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// It could not read the request.
        case malformed
        /// The challenge is unknown to it, expired or used.
        case challengeUnknown = "challenge_unknown"
        /// The assertion does not say what it must.
        case assertionRefused = "assertion_refused"
        /// The key is another user's or device's.
        case keyInUse = "key_in_use"
        /// The user has too many devices.
        case tooManyDevices = "too_many_devices"
        /// Anything else.
        case other
    }

    /// What kind of failure it is.
    public let code: Code

    /// Describes a failure.
    public init(_ code: Code) { self.code = code }

    /// For logs: the code.
    public var description: String { "\(code)" }

    /// Whether the user must sign in in another way and enable the login again.
    public var mustEnableAgain: Bool {
        if case .mustEnableAgain = code { true } else { false }
    }
}
