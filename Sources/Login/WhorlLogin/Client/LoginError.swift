// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import LoginTransport
public import WhorlService

/// An error that occurred in signing in, or in creating, using or deleting a key.
///
/// It contains no password, token, challenge or signature, and no text from the server.
public struct LoginError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// The login is not enabled on this device for the given server and user, or no key with the given name exists.
        case notEnabled
        /// The key cannot be used: the user must sign in with other credentials, then enable the login again.
        ///
        /// The key is not deleted until the login is enabled again or disabled.
        case mustEnableAgain(Reason)
        /// Another user has enabled the login to this server on this device.
        case otherAccount(LoginName)
        /// Several users have enabled the login, and no user was specified.
        case severalAccounts
        /// The user's name cannot be used, because HTTP does not allow it to contain a colon.
        case userUnusable
        /// The device's name cannot be used.
        case deviceNameUnusable
        /// The program provided too many additional claims, or some that are too long.
        case claimsRefused
        /// The owner was authenticated, but the key was not unlocked, for example because a finger was removed during
        /// the call.
        case notReleased
        /// The owner of the device was not authenticated, or the device's TPM or state directory failed.
        case service(ServiceError)
        /// Another task or program has changed the login on this device during the call, for example by disabling it.
        case changedMeanwhile
        /// The record of the login on this device was tampered with.
        case recordDamaged
        /// No response was received.
        case transport(LoginTransportError)
        /// The response does not follow the protocol.
        case answerRefused(AnswerFault)
        /// The password or the session token is wrong.
        case unauthorized
        /// The server refused the request.
        case refused(Refusal)
        /// The server does not accept further attempts for the given number of seconds.
        case tooManyTries(seconds: Int)
        /// The server failed with the given status.
        case serverFailed(status: Int)
    }

    /// The reason why a key can no longer be used.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The server does not know the key: it was revoked or replaced.
        case unknownToServer = "unknownToServer"
        /// The server requires a new key after the fingers changed.
        case serverWantsItAgain = "serverWantsItAgain"
        /// A finger was added or removed, and the key is bound to the former set.
        case fingersChanged = "fingersChanged"
        /// The TPM was cleared or replaced, or the record is damaged.
        case keyLost = "keyLost"

        /// Whether the reason comes from the server, which may change its mind, rather than from this device.
        var isOfServer: Bool {
            switch self {
            case .unknownToServer, .serverWantsItAgain: true
            case .fingersChanged, .keyLost: false
            }
        }
    }

    /// The fault in a server's response.
    public enum AnswerFault: String, Sendable, Hashable, CaseIterable {
        /// The response is larger than the protocol allows.
        case tooLarge = "tooLarge"
        /// The response is a redirect to another address.
        case redirected = "redirected"
        /// The response has the wrong format.
        case malformed = "malformed"
        /// The response comes from a server with another origin.
        case otherOrigin = "otherOrigin"
        /// The response is about another user, device or key.
        case otherDevice = "otherDevice"
    }

    /// The server's reason for refusing; the names are those of the protocol.
    public enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// The server could not read the request.
        case malformed = "malformed"
        /// The challenge is unknown to the server, expired, or already used.
        case challengeUnknown = "challenge_unknown"
        /// The assertion does not match the server's expectations.
        case assertionRefused = "assertion_refused"
        /// The key belongs to another user or device.
        case keyInUse = "key_in_use"
        /// The user has too many devices.
        case tooManyDevices = "too_many_devices"
        /// The server requires an attested key.
        case attestationRequired = "attestation_required"
        /// The server does not accept the TPM's attestation.
        case attestationRefused = "attestation_refused"
        /// Any other reason.
        case other = "other"
    }

    /// The kind of failure.
    public let code: Code

    /// Creates an error.
    public init(_ code: Code) { self.code = code }

    /// The code, for logs.
    public var description: String { "\(code)" }

    /// Whether the user must sign in with other credentials and enable the login again.
    public var mustEnableAgain: Bool {
        if case .mustEnableAgain = code { true } else { false }
    }
}

extension LoginError: ReportedError {
    /// The name of the code, without its associated values.
    public var codeName: String {
        switch code {
        case .notEnabled: "notEnabled"
        case .mustEnableAgain: "mustEnableAgain"
        case .otherAccount: "otherAccount"
        case .severalAccounts: "severalAccounts"
        case .userUnusable: "userUnusable"
        case .deviceNameUnusable: "deviceNameUnusable"
        case .claimsRefused: "claimsRefused"
        case .notReleased: "accessDenied"
        case .service(let error): error.codeName
        case .changedMeanwhile: "changedMeanwhile"
        case .recordDamaged: "storeFailed"
        case .transport: "serverUnreachable"
        case .answerRefused: "answerRefused"
        case .unauthorized: "unauthorized"
        case .refused: "serverRefused"
        case .tooManyTries: "tooManyTries"
        case .serverFailed: "serverFailed"
        }
    }

    /// The cause reported by a lower layer or by the server's response; may be empty.
    public var cause: String {
        switch code {
        case .mustEnableAgain(let reason): reason.rawValue
        case .transport(let fault): fault.rawValue
        case .answerRefused(let fault): fault.rawValue
        case .refused(let refusal): refusal.rawValue
        case .service(let error): error.cause
        case .notEnabled, .otherAccount, .severalAccounts, .userUnusable, .deviceNameUnusable,
            .claimsRefused, .notReleased, .changedMeanwhile, .recordDamaged, .unauthorized, .tooManyTries,
            .serverFailed:
            ""
        }
    }

    /// The category of the error, which determines how to handle it.
    public var category: ErrorCategory {
        switch code {
        case .notEnabled: .notFound
        case .mustEnableAgain: .noLongerValid
        case .otherAccount: .alreadyExists
        case .severalAccounts, .userUnusable, .deviceNameUnusable, .claimsRefused: .invalidRequest
        case .notReleased, .unauthorized: .notAuthenticated
        case .service(let error): error.category
        case .changedMeanwhile: .other
        case .recordDamaged: .storage
        case .transport(.cancelled): .cancelled
        case .transport, .answerRefused, .tooManyTries, .serverFailed: .serverUnavailable
        case .refused: .serverRefused
        }
    }
}
