// SPDX-License-Identifier: Apache-2.0

internal import JWTKit
internal import LoginAssertion
internal import RelyingParty

/// The claims of a session token (RFC 7519, RFC 9068).
struct SessionClaims: JWTPayload, Equatable {
    /// The server's origin.
    var iss: String
    /// The audience: a service, the server's origin, or its ``LoginOrigin/credentialsService``.
    var aud: String
    /// The user.
    var sub: String
    /// The client that requested the token (RFC 8693): the device, or ``accountPage``.
    var clientID: String
    /// The time when the user was authenticated, in seconds since 1970.
    var authenticatedAt: Int
    /// The device that signed in; `nil` after a password.
    var device: String?
    /// The thumbprint of the device's key, or the ID of the password; if it is replaced, the token is no longer valid.
    var credential: String
    /// The time when the token was created, in seconds since 1970.
    var iat: Int
    var exp: Int
    var jti: String
    /// The methods that authenticated the user (RFC 8176): `hwk` or `pop`, `fpt`, `pin`, `pwd`, `mfa`.
    var amr: [String]
    /// The app's claims in its assertion, signed by the device's key; `nil` if there were none.
    ///
    /// A service compares them with the requested operation.
    var app: [String: String]?

    /// The protection of the key that the device's TPM has proven; `nil` without an attestation.
    var attestation: Attestation?

    /// The proof of a TPM.
    struct Attestation: Codable, Equatable {
        /// The strength of the proof: `tpm`.
        var level: String
        /// The key's policy in words: `current_fingers` or `any_finger`, and `passcode`.
        var opensFor: [String]
        /// The digest of the policy, in Base64url.
        var policy: String

        init(_ attestation: KeyAttestation) {
            level = attestation.level.rawValue
            opensFor = attestation.opensFor
            policy = Base64URL.encode(attestation.policy)
        }

        private enum CodingKeys: String, CodingKey {
            case level, policy
            case opensFor = "opens_for"
        }
    }

    /// The account page as a client.
    static let accountPage = "account"

    private enum CodingKeys: String, CodingKey {
        case iss, aud, sub, device, credential, iat, exp, jti, amr, app, attestation
        case clientID = "client_id"
        case authenticatedAt = "auth_time"
    }

    /// The token's nonce, to check whether it was ended; `nil` for a token without one.
    var nonce: Nonce? {
        guard let id = Base64URL.decode(jti), id.count == 16 else { return nil }
        return Nonce(expiresAt: exp, unique: id)
    }

    /// ``SessionTokens/verify(_:at:)`` checks the time and the names, because it has the server's clock.
    func verify(using _: some JWTAlgorithm) {}
}
