// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

extension LoginService {
    private struct ChallengeAnswer: Encodable {
        let challenge: String
        let expiresAt: Int
        let origin: String
    }

    private struct SessionAnswer: Encodable {
        let token: String
        let tokenType = "Bearer"
        let expiresAt: Int
    }

    /// Handles `POST /v1/challenges`.
    func issueChallenge(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let user = try members.name("user")
        let device = try members.name("device")
        guard ![".", ".."].contains(device.text) else {
            // In a path these mean the current and the parent directory, so that such a device could not be revoked.
            throw Problem(.malformed, "Invalid device name: . and .. are paths.")
        }
        guard let purpose = LoginClaims.Purpose(rawValue: try members.required("purpose")) else {
            throw Problem(.malformed, "Invalid purpose: use login or enable.")
        }
        try members.end()
        let issued = try await relyingParty.challenge(
            for: user,
            device: device,
            purpose: purpose,
            from: client(request, context).text
        )
        return try JSON.response(
            ChallengeAnswer(
                challenge: Base64URL.encode(issued.challenge),
                expiresAt: issued.expiresAt,
                origin: relyingParty.configuration.origin.text
            ),
            status: .created
        )
    }

    /// Handles `POST /v1/sessions`.
    func signIn(_ request: Request, _ context: ServerContext) async throws -> Response {
        do {
            let response = try await signInUncounted(request, context)
            metrics.countSession("ok")
            return response
        } catch {
            metrics.countSession(Problem.answer(to: error).problem.code.rawValue)
            throw error
        }
    }

    private func signInUncounted(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let assertion = try members.required("assertion")
        let password = members.optional("password")
        try members.end()
        let address = client(request, context)
        // An empty database contains no devices: only a server that was set up on it may report that.
        try tokens.requireKeys()
        // The signature is checked first, so that a client without the device cannot guess passwords here.
        var proven = try await relyingParty.prove(assertion: assertion, from: address.text)
        // Removing a user removes the account first, then the devices.
        guard try await accounts.credential(of: proven.device.user) != nil else {
            throw RelyingPartyError(.unknownKey)
        }
        if let password {
            // One assertion allows one password.
            proven = try await relyingParty.spend(proven)
            try await requirePassword(password, with: proven, from: address)
        }
        let methods = Self.methods(proven, withPassword: password != nil)
        let signIn = try await relyingParty.admit(proven, as: methods, from: address.text)
        let (token, expiresAt) = try await tokens.issue(
            for: signIn.device.user,
            audience: proven.claims.service,
            device: signIn.device.device,
            credential: signIn.device.keyID,
            methods: methods,
            app: proven.claims.app,
            attestation: signIn.device.attestation,
            lifetime: tokenLifetime,
            at: now
        )
        return try JSON.response(SessionAnswer(token: token, expiresAt: expiresAt), status: .created)
    }

    /// Compares the password that came with an assertion; if it is wrong, records in the audit log that the sign-in was
    /// refused.
    private func requirePassword(
        _ password: String,
        with proven: ProvenAssertion,
        from address: ClientAddress
    ) async throws {
        let (user, device) = (proven.device.user, proven.device.device)
        do {
            try await requirePassword(password, of: user, on: device, from: address)
        } catch let problem as Problem {
            let reason = problem.code == .unauthorized ? "password_refused" : problem.code.rawValue
            try await relyingParty.refuse(proven, because: reason, from: address.text)
            throw problem
        } catch let error as RelyingPartyError {
            try await relyingParty.refuse(proven, because: error.word, from: address.text)
            throw error
        }
    }

    /// Returns the methods that authenticated the user, as named in RFC 8176: a key, and what unlocked it according to
    /// the device.
    ///
    /// Someone who stole the password can register another key. A key therefore counts as a second factor only if it
    /// was approved. It counts as a hardware key (`hwk`) only if its TPM has proven that; otherwise the token contains
    /// only that a key was used (`pop`).
    private static func methods(_ proven: ProvenAssertion, withPassword: Bool) -> [String] {
        let isApproved = proven.device.approval != nil
        var methods = [proven.device.attestation == nil ? "pop" : "hwk"]
        switch proven.claims.method {
        case .finger: methods.append("fpt")
        case .passcode: methods.append("pin")
        }
        if withPassword { methods += isApproved ? ["pwd", "mfa"] : ["pwd"] }
        return methods
    }

    /// Handles `POST /v1/account/sessions`, for the account page, which has no device.
    func signInWithPassword(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard case .basic(let user, let password) = Authorization(request) else {
            throw Problem.unauthorized("A user name and password are required.", scheme: Self.passwordScheme)
        }
        let credential = try await requirePassword(password, of: user, from: client(request, context))
        let (token, expiresAt) = try await tokens.issue(
            for: user,
            audience: relyingParty.configuration.origin.credentialsService,
            device: nil,
            credential: credential,
            methods: ["pwd"],
            lifetime: min(tokenLifetime, LoginServer.Configuration.longestAccountToken),
            at: now
        )
        return try JSON.response(SessionAnswer(token: token, expiresAt: expiresAt), status: .created)
    }

    /// The headers of data for verifiers, which pages of any origin may read; it is cached for half the time that a key
    /// is published before it signs.
    private static let publicHeaders: HTTPFields = [
        .cacheControl: "public, max-age=\(TokenKeySet.lead / 2)", .accessControlAllowOrigin: "*",
    ]

    /// The metadata of an authorization server (RFC 8414), as far as a verifier of tokens needs it.
    private struct MetadataAnswer: Encodable {
        let issuer: String
        let jwksURI: String
        let responseTypesSupported: [String]
        let grantTypesSupported: [String]
        let serviceDocumentation: String

        enum CodingKeys: String, CodingKey {
            case issuer
            case jwksURI = "jwks_uri"
            case responseTypesSupported = "response_types_supported"
            case grantTypesSupported = "grant_types_supported"
            case serviceDocumentation = "service_documentation"
        }
    }

    /// Handles `GET /.well-known/oauth-authorization-server`, with which gateways and services configure themselves.
    func publishMetadata(_: Request, _: ServerContext) async throws -> Response {
        try JSON.response(
            MetadataAnswer(
                issuer: origin.text,
                jwksURI: origin.text + "/.well-known/jwks.json",
                // Devices sign in with a different protocol, not at an authorization endpoint.
                responseTypesSupported: [],
                grantTypesSupported: [],
                serviceDocumentation: origin.text + "/openapi.yaml"
            ),
            headers: Self.publicHeaders
        )
    }

    /// Handles `GET /.well-known/jwks.json`.
    func publishKeys(_: Request, _: ServerContext) async throws -> Response {
        try JSON.response(
            try tokens.published(),
            headers: Self.publicHeaders
        )
    }
}
