// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import LoginAssertion
package import LoginTransport
public import WhorlSecretMemory
package import WhorlFingerprint
package import WhorlService

/// Signs an app's user in to a server with a touch.
///
///     let login = LoginClient(server: origin, transport: URLSessionTransport())
///     try await login.enable(user, with: .password(password), deviceName: "ada’s laptop")
///     let session = try await login.attempt()           // one touch
///
/// The key is created in the TPM and never leaves it; the TPM signs with it only after the owner authenticates. The
/// server issues a new challenge for each assertion, and accepts each challenge once (Docs/LoginProtocol.md). This
/// device stores one record for each user of a server in the keychain.
///
/// Its methods can be called from any task; cancelling the task ends the prompt, the request and the call.
public struct LoginClient: Sendable {
    /// The server.
    public let server: LoginOrigin
    /// The options for creating and using keys.
    public let options: LoginOptions
    let transport: any LoginTransport
    private let surroundings: @Sendable () -> ContextParts

    /// Creates a client in a custom environment.
    package init(
        server: LoginOrigin,
        transport: any LoginTransport,
        options: LoginOptions,
        parts: @escaping @Sendable () -> ContextParts
    ) {
        self.server = server
        self.transport = transport
        self.options = options
        surroundings = parts
    }

    /// Returns the state of the login on this device, without contacting the server or showing a prompt.
    ///
    /// - Parameter user: The user; `nil` for the only user who has enabled the login.
    /// - Returns: The state as known on this device; the server may have revoked the device.
    /// - Throws: `severalAccounts`, `service`.
    public func status(of user: LoginName? = nil) async throws(LoginError) -> LoginStatus {
        let desk = desk()
        guard let (user, record) = try await desk.found(user) else { return .notEnabled }
        guard let key = record.key ?? record.pending.first else {
            guard let refused = record.refused.first else { return .notEnabled }
            return .mustEnableAgain(LoginError.Reason(rawValue: refused.reason) ?? .unknownToServer)
        }
        guard let pair = desk.owner.pair(key) else { return .mustEnableAgain(.keyLost) }
        if let loss = try await desk.owner.loss(of: pair.item, madeFor: key.fingers) {
            return .mustEnableAgain(loss)
        }
        guard let login = EnabledLogin(user, record.device, pair) else { return .mustEnableAgain(.keyLost) }
        return record.pending.isEmpty ? .enabled(login) : .unfinished(login)
    }

    /// Creates the context of one call.
    func desk() -> LoginCall {
        LoginCall(server: server, transport: transport, options: options, parts: surroundings())
    }
}

/// The state of the login on this device.
public enum LoginStatus: Sendable, Hashable {
    /// The login has no key.
    case notEnabled
    /// A key was sent to the server, but no response arrived. The next attempt finds out whether the server has it;
    /// enabling the login again completes the registration.
    case unfinished(EnabledLogin)
    /// The login has a key that the server has accepted.
    case enabled(EnabledLogin)
    /// The login has a key that cannot be used to sign in; if the server refused it, the next attempt tries it again.
    case mustEnableAgain(LoginError.Reason)
}

/// An enabled login.
public struct EnabledLogin: Sendable, Hashable {
    /// The user.
    public let user: LoginName
    /// The server's name for this device.
    public let device: LoginName
    /// The display name that was set when the login was enabled.
    public let name: String
    /// The key's ID (RFC 7638).
    public let keyID: String
    /// The time when the server accepted the key; `nil` until it has responded.
    public let enabledAt: Date?
    /// The fingers that unlock the key: only those enrolled when it was created, or any enrolled finger.
    public let fingers: LoginOptions.Fingers
    /// Whether the passcode also unlocks the key.
    public let takesPasscode: Bool

    init?(_ user: LoginName, _ device: String, _ pair: LoginKeyPair) {
        guard let device = LoginName(device) else { return nil }
        self.user = user
        self.device = device
        name = pair.record.name
        keyID = pair.key.id
        enabledAt = pair.record.enabledAt
        fingers = pair.item.access.isBoundToCurrentSet ? .currentSet : .any
        takesPasscode = pair.item.access.takesPasscode
    }
}

/// A session on a server.
///
/// The token represents the session: anyone who has it is signed in. It is stored in locked memory, and the value has
/// no description.
public struct LoginSession: Sendable {
    /// The token in ASCII, to be sent after `Authorization: Bearer`.
    public let token: SecretBox
    /// The time when the session expires.
    public let expiresAt: Date
    /// The signed-in user.
    public let user: LoginName
    /// The server's name for the device.
    public let device: LoginName
    /// The method that was used to authenticate the owner of the device.
    public let method: LoginClaims.Method
    /// The type of the fingerprint reader; `nil` for a passcode.
    package let readerKind: ReaderInfo.Kind?
}

extension LoginClient {
    /// Deletes the key on this device, regardless of the server's reply, and revokes the device on the server if a
    /// credential is given.
    ///
    /// - Parameters:
    ///   - user: The user; `nil` for the only user who has enabled the login.
    ///   - credential: A credential that identifies this user to the server, such as a session of
    ///     ``attempt(_:reason:claims:password:service:)``. Without one, the server is not notified, and lists the
    ///     device until it is revoked there.
    /// - Returns: The result.
    /// - Throws: `severalAccounts`, `recordDamaged` or `service`; failures of the server are not thrown.
    @discardableResult
    public func disable(
        _ user: LoginName? = nil,
        telling credential: LoginCredential? = nil
    ) async throws(LoginError) -> DisabledLogin {
        let desk = desk()
        guard let (user, record) = try await desk.found(user) else { return .wasNotEnabled }
        // The key is deleted first, so that it cannot sign in, whatever happens on the network.
        try await desk.delete(user)
        guard let credential else { return .here }
        do throws(LoginError) {
            guard let device = LoginName(record.device) else {
                throw LoginError(.recordDamaged)
            }
            let authorization = try credential.authorization(of: user)
            let answer = try await desk.send(.revoke(device, authorization: authorization, to: server))
            // The server cannot revoke a device that it does not have.
            if answer.status != 404 { try answer.check(204) }
            return .everywhere
        } catch {
            return .hereOnly(error)
        }
    }
}

/// The result of disabling a login.
public enum DisabledLogin: Sendable, Hashable {
    /// The login was not enabled.
    case wasNotEnabled
    /// The key was deleted on this device; the server was not notified.
    case here
    /// The key was deleted on this device and revoked on the server.
    case everywhere
    /// The key was deleted on this device, but the server could not be notified, for the given reason.
    case hereOnly(LoginError)
}

/// The options for creating and using a login's key.
public struct LoginOptions: Sendable {
    /// The fingers that unlock a key.
    public enum Fingers: String, Sendable, Hashable {
        /// The fingers that were enrolled when the key was created; fingers added later do not unlock it.
        case currentSet
        /// Any enrolled finger; the server can see that the set has changed, and may refuse.
        case any
    }

    /// The fingers that unlock a new key; the default is ``Fingers/currentSet``.
    public var fingers = Fingers.currentSet
    /// Whether the passcode also unlocks a new key, if a passcode is set; the default is `true`.
    public var takesPasscode = true
    /// Whether a new key is enabled with an attestation, which shows the server that a TPM protects the key.
    ///
    /// The attestation identifies this machine's TPM to the server for the lifetime of the TPM. The default is `false`.
    public var attests = false
    /// Whether several users can enable the login to one server on this device.
    public var allowsSeveralAccounts = false
    /// The presenter of the prompt; `nil` for the default.
    public var presenter: (any PromptPresenter)?
    /// The text of the cancel button; `nil` for the default.
    public var cancelTitle: String?
    /// The text of the fallback button; `nil` for the default, and an empty string to hide the button.
    public var fallbackTitle: String?
    /// The time limit of a prompt for each touch.
    public var patience = Duration.seconds(60)

    /// Creates the default options.
    public init() {}

    /// Returns the access control for a new key.
    func access(withPasscode isPasscodeSet: Bool) -> AccessControl {
        let finger: AccessControl =
            switch fingers {
            case .currentSet: .biometryCurrentSet
            case .any: .biometryAny
            }
        guard takesPasscode, isPasscodeSet else { return finger }
        // Both can be combined, so this does not fail.
        return (try? .either(finger, .devicePasscode)) ?? finger
    }
}
