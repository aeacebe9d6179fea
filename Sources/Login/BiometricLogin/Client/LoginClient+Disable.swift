// SPDX-License-Identifier: Apache-2.0

internal import Keychain
public import LoginAssertion
internal import LoginTransport

extension LoginClient {
    /// Deletes the key on this device, whatever the server says, and has the server revoke the device where it can be shown
    /// whose it is.
    ///
    /// - Parameters:
    ///   - user: Whose login; without one, of whoever has enabled it.
    ///   - credential: What shows the server that it is this user, such as a session that ``attempt(_:reason:claims:password:service:)``
    ///     gave; without one the server is not told, and lists the device until it is revoked there.
    /// - Returns: What came of it.
    /// - Throws: `severalAccounts`, `store`, `keychain`: what concerns this device.
    @discardableResult
    public func disable(
        _ user: LoginName? = nil,
        telling credential: LoginCredential? = nil
    ) async throws(LoginError) -> DisabledLogin {
        let desk = desk()
        guard let (user, record) = try await desk.found(user) else { return .wasNotEnabled }
        // The key first: from here on nobody signs in with it, whatever the network does.
        try await desk.delete(user)
        guard let credential else { return .here }
        do throws(LoginError) {
            guard let device = LoginName(record.device) else {
                throw LoginError(.keychain(errSecInvalidRecord))
            }
            let authorization = try credential.authorization(of: user)
            let answer = try await desk.send(.revoke(device, authorization: authorization, to: server))
            // A device that the server does not have is one that it need not revoke.
            if answer.status != 404 { try answer.check(204) }
            return .everywhere
        } catch {
            return .hereOnly(error)
        }
    }
}

/// What came of disabling a login.
public enum DisabledLogin: Sendable, Hashable {
    /// There was none.
    case wasNotEnabled
    /// The key is deleted here; the server was not told.
    case here
    /// The key is deleted here, and revoked at the server.
    case everywhere
    /// The key is deleted here; the server could not be told, for this reason.
    case hereOnly(LoginError)
}
