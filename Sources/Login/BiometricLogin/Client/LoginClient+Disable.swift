// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices
public import LoginAssertion
internal import LoginTransport

extension LoginClient {
    /// Deletes the key on this device, whatever the server replies, and has the server revoke the device if a
    /// credential is given.
    ///
    /// - Parameters:
    ///   - user: The user; without one, the only user who has enabled the login.
    ///   - credential: A credential that identifies this user to the server, such as a session of
    ///     ``attempt(_:reason:claims:password:service:)``; without one the server is not informed, and lists the device
    ///     until it is revoked there.
    /// - Returns: The result.
    /// - Throws: `severalAccounts`, `store`, `keychain`: only failures on this device.
    @discardableResult
    public func disable(
        _ user: LoginName? = nil,
        telling credential: LoginCredential? = nil
    ) async throws(LoginError) -> DisabledLogin {
        let desk = desk()
        guard let (user, record) = try await desk.found(user) else { return .wasNotEnabled }
        // The key is deleted first: from here on it cannot sign in, whatever the network does.
        try await desk.delete(user)
        guard let credential else { return .here }
        do throws(LoginError) {
            guard let device = LoginName(record.device) else {
                throw LoginError(.keychain(errSecInvalidRecord))
            }
            let authorization = try credential.authorization(of: user)
            let answer = try await desk.send(.revoke(device, authorization: authorization, to: server))
            // The server need not revoke a device that it does not have.
            if answer.status != 404 { try answer.check(204) }
            return .everywhere
        } catch {
            return .hereOnly(error)
        }
    }
}

/// The result of disabling a login.
public enum DisabledLogin: Sendable, Hashable {
    /// There was no login.
    case wasNotEnabled
    /// The key is deleted here; the server was not informed.
    case here
    /// The key is deleted here, and revoked at the server.
    case everywhere
    /// The key is deleted here; the server could not be informed, for this reason.
    case hereOnly(LoginError)
}
