// SPDX-License-Identifier: Apache-2.0

package import AuthenticationContext
package import WhorlFingerprint
public import Foundation
public import LoginAssertion
public import LoginTransport
public import SecretMemory

/// Signs an app's user in to a server with a touch.
///
///     let login = LoginClient(server: origin, transport: URLSessionTransport())
///     try await login.enable(user, with: .password(password), deviceName: "ada’s laptop")
///     let session = try await login.attempt()           // one touch
///
/// The key is made in the chip and never leaves it; the chip signs with it only for its owner. The server issues a
/// fresh challenge for each assertion, and accepts it once (Docs/LoginProtocol.md). This device keeps one record for
/// each user of a server, in the keychain.
///
/// Its functions may be called from any task; cancelling the task ends the prompt, the request and the call.
public struct LoginClient: Sendable {
    /// The server.
    public let server: LoginOrigin
    /// The options for making and using keys.
    public let options: LoginOptions
    let transport: any LoginTransport
    private let surroundings: @Sendable () -> ContextParts

    /// Makes a client of one server; nothing is opened or sent yet, and there is no prompt.
    public init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions = LoginOptions()) {
        self.init(server: server, transport: transport, options: options) { .current }
    }

    /// Makes a client in an environment that the caller chooses.
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

    /// Returns the state of the login on this device, without a request to the server or a prompt.
    ///
    /// - Parameter user: The user; without one, the only user who has enabled the login.
    /// - Returns: The state as known on this device; the server may have revoked the device.
    /// - Throws: `severalAccounts`, `store`, `keychain`, `vault`.
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

    /// Makes the context of one call.
    func desk() -> LoginDesk {
        LoginDesk(server: server, transport: transport, options: options, parts: surroundings())
    }
}

/// The state of the login on this device.
public enum LoginStatus: Sendable, Hashable {
    /// There is no key.
    case notEnabled
    /// A key was sent to the server and no answer came; the next attempt finds out, and enabling again continues.
    case unfinished(EnabledLogin)
    /// There is a key that the server has accepted.
    case enabled(EnabledLogin)
    /// There is a key that cannot sign in; the next attempt retries a key that the server refused.
    case mustEnableAgain(LoginError.Reason)
}

/// A login that is enabled.
public struct EnabledLogin: Sendable, Hashable {
    /// The user.
    public let user: LoginName
    /// The server's name of this device.
    public let device: LoginName
    /// The display name that was set when the login was enabled.
    public let name: String
    /// The key's name (RFC 7638).
    public let keyID: String
    /// The time when the server accepted the key; `nil` while it has not answered.
    public let enabledAt: Date?
    /// The fingers that open the key: the current set, or also those that are added later.
    public let fingers: LoginOptions.Fingers
    /// Whether the passcode also opens the key.
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

/// A session that a server has opened.
///
/// The token is the session: anyone who has it is signed in. It is kept in locked memory, and the value has no
/// description.
public struct LoginSession: Sendable {
    /// The token, ASCII, as it follows `Authorization: Bearer`.
    public let token: SecretBox
    /// The time until which the server accepts it.
    public let expiresAt: Date
    /// The user who is signed in.
    public let user: LoginName
    /// The device, by the server's name of it.
    public let device: LoginName
    /// The method by which the owner of the device was recognised.
    public let method: LoginClaims.Method
    /// The kind of the reader that the finger was on; `nil` for a passcode.
    package let readerKind: ReaderInfo.Kind?
}
