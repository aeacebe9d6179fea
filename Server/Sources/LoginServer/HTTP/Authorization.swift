// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

/// The credentials of a request (RFC 9110, 11).
enum Authorization {
    /// A name and a password (RFC 7617).
    case basic(user: LoginName, password: String)
    /// A token (RFC 6750).
    case bearer(String)

    /// The maximum length of the field, in bytes: the longest token with its scheme, or the longest name and password.
    private static let longest = SessionTokens.longest + 16

    /// Parses the credentials of a request.
    ///
    /// - Returns: `nil` if the field is missing, duplicated or has another format.
    init?(_ request: Request) {
        let fields = request.headers[values: .authorization]
        guard fields.count == 1, let field = fields.first, field.utf8.count <= Self.longest,
            let space = field.firstIndex(of: " ")
        else { return nil }
        let value = field[field.index(after: space)...]
        switch field[..<space].lowercased() {
        case "bearer": self = .bearer(String(value))
        case "basic":
            guard let bytes = Data(base64Encoded: String(value)),
                let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":"),
                let user = LoginName(String(text[..<colon]))
            else { return nil }
            self = .basic(user: user, password: String(text[text.index(after: colon)...]))
        default: return nil
        }
    }
}

/// The authenticated sender of a request.
struct Sender {
    let user: LoginName
    /// The device of the token; `nil` for a password, and for a token obtained with a password.
    let device: LoginName?
    /// The thumbprint of the device's key, or the ID of the password.
    let credential: String
    /// The time when the token was created, in seconds since 1970; `nil` for a password.
    var signedInAt: Int?
    /// Whether it may change the user's credentials: with a token that services never see, or a password.
    var mayChangeCredentials = false
    /// The token's nonce, to check whether it was ended; `nil` for a password.
    var nonce: Nonce?
}

extension Sender {
    /// Creates the sender from a token; returns `nil` if its names are invalid.
    init?(_ claims: SessionClaims, _ origin: LoginOrigin) {
        guard let user = LoginName(claims.sub), let nonce = claims.nonce else { return nil }
        let device = claims.device.flatMap(LoginName.init)
        guard (device == nil) == (claims.device == nil) else { return nil }
        self.init(
            user: user,
            device: device,
            credential: claims.credential,
            signedInAt: claims.iat,
            mayChangeCredentials: claims.aud == origin.credentialsService,
            nonce: nonce
        )
    }
}

/// The authorization required for a request.
enum Need {
    /// Reading: a token for this server.
    case look
    /// Revoking devices: a password, or a token for changing credentials.
    case revoke
    /// Enabling a key: a password, or such a token from a sign-in within the last minute.
    case enable
}

extension LoginService {
    static let passwordScheme = #"Basic realm="whorl-login-server", charset="UTF-8""#

    /// The maximum age of the sign-in behind a token that enables a device, in seconds.
    static let freshness = 60

    /// Returns the sender of the request, authenticated by a token or, if sufficient, by a password.
    ///
    /// - Throws: ``Problem`` unless the token or password is valid.
    func sender(of request: Request, _ context: ServerContext, to need: Need) async throws -> Sender {
        let allowsPassword = need != .look
        switch Authorization(request) {
        case .basic(let user, let password) where allowsPassword:
            let credential = try await requirePassword(password, of: user, from: client(request, context))
            return Sender(user: user, device: nil, credential: credential, mayChangeCredentials: true)
        case .bearer(let token):
            let sender = try await sender(token: token)
            guard need == .look || sender.mayChangeCredentials else { throw Self.otherToken }
            if need == .enable, now - (sender.signedInAt ?? 0) > Self.freshness { throw Self.oldToken }
            return sender
        case .basic, nil:
            throw Problem.unauthorized(
                allowsPassword
                    ? "A session token, or a user name and password, is required."
                    : "A session token is required.",
                scheme: allowsPassword ? "Bearer, \(Self.passwordScheme)" : "Bearer"
            )
        }
    }

    /// Compares a password, and records whether it was correct.
    ///
    /// - Parameters:
    ///   - password: The received password.
    ///   - user: The user to compare it for.
    ///   - device: The device whose assertion came with the password, if any.
    ///   - address: The client's address.
    /// - Returns: The password's ID.
    /// - Throws: ``Problem`` unless it is the user's password.
    @discardableResult
    func requirePassword(
        _ password: String,
        of user: LoginName,
        on device: LoginName? = nil,
        from address: ClientAddress
    ) async throws -> String {
        let credential = try await passwords.check(password, of: user, on: device, from: address)
        // Done for unknown users as well, so that the response time does not reveal which users exist.
        try await relyingParty.note(
            credential == nil ? .passwordRefused : .passwordAccepted,
            of: user,
            on: device,
            from: address.text
        )
        guard let credential else {
            logger.notice("password refused", metadata: ["user": "\(user)", "address": "\(address.text)"])
            throw Problem.unauthorized("Wrong user name or password.", scheme: Self.passwordScheme)
        }
        return credential
    }

    /// Returns the sender of a token.
    ///
    /// A valid signature is not enough: the device may have been revoked, or the user removed, since the token was
    /// created.
    private func sender(token: String) async throws -> Sender {
        guard let claims = try await tokens.verify(token, at: now), let sender = Sender(claims, origin),
            try await isStillGood(sender)
        else { throw Self.invalidToken }
        return sender
    }

    static var invalidToken: Problem {
        .unauthorized(
            "The session token is invalid or has expired. Sign in again.",
            scheme: #"Bearer error="invalid_token""#
        )
    }

    var origin: LoginOrigin { relyingParty.configuration.origin }

    /// The problem for a token of a service: such a token must not give the service access to the account.
    private static let otherToken = Problem.unauthorized(
        "This token cannot change devices. Sign in for that purpose; see Docs/LoginProtocol.md.",
        scheme: #"Bearer error="insufficient_scope""#
    )

    private static let oldToken = Problem.unauthorized(
        "The sign-in is more than a minute old. Sign in again.",
        scheme: #"Bearer error="invalid_token""#
    )

    /// Returns whether the user still exists, still has the sender's device or password, and has not ended the session.
    func isStillGood(_ sender: Sender) async throws -> Bool {
        if let nonce = sender.nonce, try await relyingParty.isEnded(nonce) { return false }
        // Removing a user removes the account first, then the devices.
        guard let account = try await accounts.standing(of: sender.user) else { return false }
        if let signedInAt = sender.signedInAt, signedInAt < account.sessionsFrom { return false }
        guard let device = sender.device else { return account.credential == sender.credential }
        return try await relyingParty.isActive(device: device, of: sender.user, keyID: sender.credential)
    }
}
