// SPDX-License-Identifier: Apache-2.0

internal import LoginTransport

extension LoginError {
    /// One sentence that says what happened.
    public var message: String {
        switch code {
        case .notEnabled: "The login is not enabled on this device."
        case .mustEnableAgain(let reason): reason.message
        case .otherAccount(let user): "The login is enabled for \(user) on this device."
        case .severalAccounts: "The login is enabled for several users on this device."
        case .userUnusable: "A user’s name must not hold a colon."
        case .deviceNameUnusable: "The name cannot be a device’s."
        case .claimsRefused: "The program’s own claims or its service’s name are too many or too long."
        case .notReleased: "What was shown does not open the key."
        case .service(let error): error.message
        case .changedMeanwhile: "The login on this device was changed meanwhile."
        case .recordDamaged: "The record of the login on this device is damaged."
        case .transport(let error): error.message
        case .answerRefused(let fault): fault.message
        case .unauthorized: "The server does not take the password or the session."
        case .refused(let refusal): refusal.message
        case .tooManyTries: "The server takes no more tries for now."
        case .serverFailed(let status): "The server failed (status \(status))."
        }
    }

    /// One sentence that says what the person can do.
    public var recovery: String {
        switch code {
        case .notEnabled: "Enable it: `whorl login enable`."
        case .mustEnableAgain: "Sign in with the password, then enable the login again."
        case .otherAccount: "Disable it there first, or allow several accounts."
        case .severalAccounts: "Name the user."
        case .userUnusable: "Sign in with another name of the account."
        case .deviceNameUnusable:
            "1 to 128 bytes, without control characters and without spaces at its ends."
        case .claimsRefused: "At most 16, with values of at most 256 bytes."
        case .notReleased, .changedMeanwhile: "Try again."
        case .service(let error): error.recovery
        case .recordDamaged:
            "Disable the login, then enable it again: `whorl login disable`, `whorl login enable`."
        case .transport(let error): error.recovery
        case .answerRefused: "Check the server’s address, and what stands between."
        case .unauthorized: "Try again with the right one."
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
        case .serverWantsItAgain: "The fingers changed, and the server does not take the key any longer."
        case .fingersChanged:
            "The fingers changed since the login was enabled; its key does not sign any longer."
        case .keyLost: "The chip does not have the key any longer."
        }
    }
}

extension LoginError.AnswerFault {
    fileprivate var message: String {
        switch self {
        case .tooLarge: "The server’s answer is too large."
        case .redirected: "The server sends elsewhere, and that is not followed."
        case .malformed: "What came is no answer of a login server."
        case .otherOrigin: "The server calls itself by another address."
        case .otherDevice: "The server’s answer is about another user, device or key."
        }
    }
}

extension LoginError.Refusal {
    fileprivate var message: String {
        switch self {
        case .malformed: "The server could not read the request."
        case .challengeUnknown: "The server’s challenge has expired, or was used."
        case .assertionRefused: "The server does not take what the device signed."
        case .keyInUse: "The server has this key for another user or device."
        case .tooManyDevices: "The server keeps no more devices for this user."
        case .attestationRequired: "The server takes only keys whose TPM proves what guards them."
        case .attestationRefused: "The server does not take the proof of this machine’s TPM."
        case .other: "The server refused."
        }
    }

    fileprivate var recovery: String {
        switch self {
        case .malformed, .other: "Check that the server and this program are of versions that fit."
        case .challengeUnknown: "Try again."
        case .assertionRefused: "Check this machine’s clock, then try again."
        case .keyInUse: "Enable the login again: that makes a new key."
        case .tooManyDevices: "Revoke a device that is not used any more."
        case .attestationRequired:
            "Enable the login with an attestation (`--attest`); it names this machine’s TPM to the server."
        case .attestationRefused:
            "Enable the login without one, or ask who runs the server whether the TPM’s maker is trusted."
        }
    }
}

extension LoginTransportError {
    fileprivate var message: String {
        switch self {
        case .unreachable: "The server cannot be reached."
        case .timedOut: "The server did not answer in time."
        case .notTrusted: "The server’s certificate is not trusted."
        case .notSecured: "No secure connection to the server could be made."
        case .tooLarge: LoginError.AnswerFault.tooLarge.message
        case .malformed: LoginError.AnswerFault.malformed.message
        case .cancelled: "The request was canceled."
        case .surroundings: "A proxy is set for connections that are not encrypted."
        case .failed: "The request could not be sent."
        }
    }

    fileprivate var recovery: String {
        switch self {
        case .unreachable, .timedOut, .failed: "Check the address and the network, then try again."
        case .notTrusted: "Install the certificate of its authority, or ask who runs the server."
        case .notSecured: "Check the address and the port. The server must speak TLS 1.2 or later."
        case .tooLarge, .malformed: "Check the server’s address, and what stands between."
        case .cancelled: "Start again when ready."
        case .surroundings: "Unset `http_proxy` and `all_proxy`, or use https."
        }
    }
}
