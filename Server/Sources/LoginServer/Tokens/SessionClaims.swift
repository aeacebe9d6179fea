// SPDX-License-Identifier: Apache-2.0

internal import JWTKit

/// The claims of a session token (RFC 7519).
struct SessionClaims: JWTPayload, Equatable {
    /// The server's origin.
    var iss: String
    /// The audience: a service, the server's origin, or its ``LoginOrigin/credentialsService``.
    var aud: String
    /// The user.
    var sub: String
    /// The device that signed in; `nil` after a password.
    var device: String?
    /// The thumbprint of the device's key, or the name of the password: when it is replaced, the token is no longer
    /// valid.
    var credential: String
    /// The time when the token was made, in seconds since 1970.
    var iat: Int
    var exp: Int
    var jti: String
    /// The methods that recognised the user (RFC 8176): `hwk` or `pop`, `fpt`, `pin`, `pwd`, `mfa`.
    var amr: [String]
    /// The app's claims in its assertion, signed by the device's key; `nil` if there were none.
    ///
    /// A service compares them with the operation that it is asked for.
    var app: [String: String]?

    /// ``SessionTokens/verify(_:at:)`` checks the time and the names, since it knows the server's clock.
    func verify(using _: some JWTAlgorithm) {}
}
