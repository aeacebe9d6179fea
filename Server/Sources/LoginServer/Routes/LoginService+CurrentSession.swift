// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

/// The session of the token in a request: anyone with a token can check it and end it.
extension LoginService {
    private struct CurrentAnswer: Encodable {
        let user: String
        let audience: String
        let device: String?
        let expiresAt: Int
    }

    /// Handles `GET /v1/sessions/current`: the token is still valid, so that services can detect a revocation
    /// immediately.
    func tellCurrentSession(_ request: Request, _ context: ServerContext) async throws -> Response {
        let claims = try await currentSession(request)
        return try JSON.response(
            CurrentAnswer(
                user: claims.sub,
                audience: claims.aud,
                device: claims.device,
                expiresAt: claims.exp
            )
        )
    }

    /// Handles `DELETE /v1/sessions/current`: the token is no longer valid, for this server and for services that check
    /// it.
    func endCurrentSession(_ request: Request, _ context: ServerContext) async throws -> Response {
        let claims = try await currentSession(request)
        guard let nonce = claims.nonce, let user = LoginName(claims.sub) else { throw Self.invalidToken }
        // If another request was faster, the session has ended as well.
        _ = try await relyingParty.end(
            nonce,
            of: user,
            on: claims.device.flatMap(LoginName.init),
            from: client(request, context).text
        )
        return Response(status: .noContent)
    }

    /// Returns the claims of the token in a request, for this server or for a service.
    private func currentSession(_ request: Request) async throws -> SessionClaims {
        guard case .bearer(let token) = Authorization(request) else {
            throw Problem.unauthorized("A session token is required.")
        }
        guard let claims = try await tokens.verifyAny(token, at: now), let sender = Sender(claims, origin),
            try await isStillGood(sender)
        else { throw Self.invalidToken }
        return claims
    }
}
