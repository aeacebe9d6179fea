// SPDX-License-Identifier: Apache-2.0

internal import JWTKit

/// What a session token says (RFC 7519).
struct SessionClaims: JWTPayload, Equatable {
    /// The server's origin.
    var iss: String
    /// Whom the token is for: a service, the server's origin, or its ``LoginOrigin/credentialsService``.
    var aud: String
    /// The user.
    var sub: String
    /// The device that signed in; `nil` after a password.
    var device: String?
    /// The thumbprint of the device's key, or the name of the password: once another took its place, the token is over.
    var credential: String
    /// Seconds since 1970.
    var iat: Int
    var exp: Int
    var jti: String
    /// How the user was recognised (RFC 8176): `hwk` or `pop`, `fpt`, `pin`, `pwd`, `mfa`.
    var amr: [String]
    /// What the app said in its assertion, signed by the device's key; `nil` where it said nothing.
    ///
    /// A service compares it with what it is asked to do.
    var app: [String: String]?

    /// Time and names are looked at by ``SessionTokens/verify(_:at:)``, which knows the server's clock.
    func verify(using _: some JWTAlgorithm) {}
}
