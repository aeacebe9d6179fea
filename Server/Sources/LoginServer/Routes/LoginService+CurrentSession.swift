// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

/// The session whose token a request brings: who has a token may ask about it, and end it.
extension LoginService {
    private struct CurrentAnswer: Encodable {
        let user: String
        let audience: String
        let device: String?
        let expiresAt: Int
    }

    /// Answers `GET /v1/sessions/current`: the token is still good here, so a service that asks hears of a revocation at
    /// once.
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

    /// Answers `DELETE /v1/sessions/current`: the token is over, at this server and for services that ask it.
    func endCurrentSession(_ request: Request, _ context: ServerContext) async throws -> Response {
        let claims = try await currentSession(request)
        guard let nonce = claims.nonce, let user = LoginName(claims.sub) else { throw Self.invalidToken }
        // If another request was faster, it is over as well.
        _ = try await relyingParty.end(
            nonce,
            of: user,
            on: claims.device.flatMap(LoginName.init),
            from: client(request, context).text
        )
        return Response(status: .noContent)
    }

    /// Returns the claims of the token that a request brings, for this server or for a service.
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
