// SPDX-License-Identifier: Apache-2.0

package import AuthenticationContext
package import Fingerprint
public import Foundation
public import LoginAssertion
public import LoginTransport
public import SecretMemory
internal import Vault

/// Signs an app's user in to a server with a touch.
///
///     let login = LoginClient(server: origin, transport: URLSessionTransport())
///     try await login.enable(user, with: .password(password), deviceName: "ada’s laptop")
///     let session = try await login.attempt()           // one touch
///
/// The key is made in the chip and never leaves it; the chip signs with it only for its owner. The server gives a fresh
/// challenge for each assertion, and takes it once (Docs/LoginProtocol.md). What this device keeps is one record for each
/// user of a server, in the keychain.
///
/// Its functions may be called from any task; cancelling the task ends the prompt, the request and the call.
public struct LoginClient: Sendable {
    /// The server.
    public let server: LoginOrigin
    /// How keys are made and used.
    public let options: LoginOptions
    let transport: any LoginTransport
    private let surroundings: @Sendable () -> ContextParts

    /// A client of one server; nothing is opened, asked or sent yet.
    public init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions = LoginOptions()) {
        self.init(server: server, transport: transport, options: options) { .current }
    }

    /// The same in surroundings of the caller's choice.
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

    /// How the login stands on this device; neither the server nor the owner is asked.
    ///
    /// - Parameter user: Whose; without one, whoever has enabled it.
    /// - Returns: What can be told here; the server may have revoked the device.
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

    /// What one call works with.
    func desk() -> LoginDesk {
        LoginDesk(server: server, transport: transport, options: options, parts: surroundings())
    }
}

/// How the login stands on this device.
public enum LoginStatus: Sendable, Hashable {
    /// There is no key.
    case notEnabled
    /// A key was sent to the server and no answer came; an attempt finds out, and enabling again goes on.
    case unfinished(EnabledLogin)
    /// There is a key, which the server has taken.
    case enabled(EnabledLogin)
    /// There is a key that cannot sign in: the next attempt deletes one that nothing opens, and tries one again that the
    /// server refused.
    case mustEnableAgain(LoginError.Reason)
}

/// A login that is enabled.
public struct EnabledLogin: Sendable, Hashable {
    /// Whose.
    public let user: LoginName
    /// What the server calls this device.
    public let device: LoginName
    /// The name for people that was given when it was enabled.
    public let name: String
    /// The key's name (RFC 7638).
    public let keyID: String
    /// When the server took the key; `nil` while it has not answered.
    public let enabledAt: Date?
    /// Whether a finger that is added later opens the key.
    public let fingers: LoginOptions.Fingers
    /// Whether the passcode opens it too.
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

/// A session that a server gave.
///
/// The token is the session: whoever has it is signed in. It lies in locked memory, and the value has no description.
public struct LoginSession: Sendable {
    /// The token, ASCII, as it goes behind `Authorization: Bearer`.
    public let token: SecretBox
    /// Until when the server takes it.
    public let expiresAt: Date
    /// Who is signed in.
    public let user: LoginName
    /// On which device, as the server calls it.
    public let device: LoginName
    /// How the owner of the device was recognised.
    public let method: LoginClaims.Method
    /// What kind of reader the finger was on; `nil` for a passcode.
    package let readerKind: ReaderInfo.Kind?
}
