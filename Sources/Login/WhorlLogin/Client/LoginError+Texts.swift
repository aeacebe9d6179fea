// SPDX-License-Identifier: Apache-2.0

internal import LoginTransport

extension LoginError {
    /// A sentence that describes the failure.
    public var message: String {
        switch code {
        case .notEnabled: "The login is not enabled on this device."
        case .mustEnableAgain(let reason): reason.message
        case .otherAccount(let user): "The login is enabled for \(user) on this device."
        case .severalAccounts: "The login is enabled for several users on this device."
        case .userUnusable: "The user’s name must not contain a colon."
        case .deviceNameUnusable: "Invalid device name."
        case .claimsRefused: "Too many claims, or a claim or the service name is too long."
        case .notReleased: "This authentication does not unlock the key."
        case .service(let error): error.message
        case .changedMeanwhile: "The login on this device was changed by another program."
        case .recordDamaged: "The record of the login on this device is damaged."
        case .transport(let error): error.message
        case .answerRefused(let fault): fault.message
        case .unauthorized: "The server rejected the password or the session."
        case .refused(let refusal): refusal.message
        case .tooManyTries: "The server does not accept further attempts for now."
        case .serverFailed(let status): "The server failed (status \(status))."
        }
    }

    /// A sentence that tells the user what to do.
    public var recovery: String {
        switch code {
        case .notEnabled: "Enable it: `whorl login enable`."
        case .mustEnableAgain: "Sign in with the password, then enable the login again."
        case .otherAccount: "Disable the login for that user first, or allow several accounts."
        case .severalAccounts: "Specify the user."
        case .userUnusable: "Sign in with a different name for the account."
        case .deviceNameUnusable:
            "Use 1 to 128 bytes, without control characters and without spaces at either end."
        case .claimsRefused: "Use at most 16 claims, with values of at most 256 bytes."
        case .notReleased, .changedMeanwhile: "Try again."
        case .service(let error): error.recovery
        case .recordDamaged:
            "Disable the login, then enable it again: `whorl login disable`, `whorl login enable`."
        case .transport(let error): error.recovery
        case .answerRefused: "Check the server’s address and any proxy in between."
        case .unauthorized: "Try again with the correct password or session."
        case .refused(let refusal): refusal.recovery
        case .tooManyTries(let seconds): "Try again in \(seconds) seconds."
        case .serverFailed: "Try again later."
        }
    }
}

extension LoginError.Reason {
    fileprivate var message: String {
        switch self {
        case .unknownToServer: "The server does not know this device’s key."
        case .serverWantsItAgain: "The enrolled fingers changed, and the server no longer accepts the key."
        case .fingersChanged:
            "The enrolled fingers changed since the login was enabled; its key no longer works."
        case .keyLost: "The key is no longer in the TPM."
        }
    }
}

extension LoginError.AnswerFault {
    fileprivate var message: String {
        switch self {
        case .tooLarge: "The server’s response is too large."
        case .redirected: "The server sent a redirect, which is not followed."
        case .malformed: "The response is not from a login server."
        case .otherOrigin: "The server identifies itself with another address."
        case .otherDevice: "The server’s response is about another user, device or key."
        }
    }
}

extension LoginError.Refusal {
    fileprivate var message: String {
        switch self {
        case .malformed: "The server could not read the request."
        case .challengeUnknown: "The server’s challenge has expired or was already used."
        case .assertionRefused: "The server rejected this device’s signature."
        case .keyInUse: "The key is registered on the server for another user or device."
        case .tooManyDevices: "The server’s device limit for this user has been reached."
        case .attestationRequired: "The server requires an attested key."
        case .attestationRefused: "The server rejected the attestation of this TPM."
        case .other: "The server refused the request."
        }
    }

    fileprivate var recovery: String {
        switch self {
        case .malformed, .other: "Check that the versions of the server and this program match."
        case .challengeUnknown: "Try again."
        case .assertionRefused: "Check this computer’s clock, then try again."
        case .keyInUse: "Enable the login again, which creates a new key."
        case .tooManyDevices: "Revoke a device that is no longer used."
        case .attestationRequired:
            "Enable the login with `--attest`, which identifies this TPM to the server."
        case .attestationRefused:
            "Enable the login without attestation, or ask the operator to trust the TPM’s manufacturer."
        }
    }
}

extension LoginTransportError {
    fileprivate var message: String {
        switch self {
        case .unreachable: "The server cannot be reached."
        case .timedOut: "The server did not respond in time."
        case .notTrusted: "The server’s certificate is not trusted."
        case .notSecured: "Cannot establish a secure connection to the server."
        case .tooLarge: LoginError.AnswerFault.tooLarge.message
        case .malformed: LoginError.AnswerFault.malformed.message
        case .cancelled: "The request was canceled."
        case .surroundings: "A proxy is configured for unencrypted connections."
        case .failed: "The request could not be sent."
        }
    }

    fileprivate var recovery: String {
        switch self {
        case .unreachable, .timedOut, .failed: "Check the address and the network, then try again."
        case .notTrusted: "Install its authority's certificate, or ask the operator of the server."
        case .notSecured: "Check the address and the port. The server must speak TLS 1.2 or later."
        case .tooLarge, .malformed: "Check the server’s address and any proxy in between."
        case .cancelled: "Start again when ready."
        case .surroundings: "Unset `http_proxy` and `all_proxy`, or use https."
        }
    }
}
