// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LoginAssertion
internal import RelyingParty

extension LoginService {
    private struct CredentialAnswer: Encodable {
        let nonce: String
        let credential: String
        let secret: String
        let expiresAt: Int
    }

    /// Handles `POST /v1/attestations`.
    func makeCredential(_ request: Request, _ context: ServerContext) async throws -> Response {
        var members = try await request.members()
        let user = try members.name("user")
        let device = try members.name("device")
        let endorsementKey = try members.bytes("endorsementKey")
        let certificate = try members.bytes("certificate")
        let attestationKey = try members.bytes("attestationKey")
        try members.end()
        let made = try await relyingParty.credential(
            for: user,
            device: device,
            endorsementKey: endorsementKey,
            attestationKey: attestationKey,
            certificate: certificate,
            from: client(request, context).text
        )
        return try JSON.response(
            CredentialAnswer(
                nonce: Base64URL.encode(made.nonce),
                credential: Base64URL.encode(made.credential),
                secret: Base64URL.encode(made.secret),
                expiresAt: made.expiresAt
            ),
            status: .created
        )
    }
}

extension RequestMembers {
    /// Reads the attestation of a key; returns `nil` if there is none.
    mutating func attestation() throws(Problem) -> AttestationStatement? {
        guard let text = optional("attestation") else { return nil }
        guard let bytes = Base64URL.decode(text), let statement = AttestationStatement(encoded: bytes) else {
            throw Problem(.malformed, "Invalid attestation: not Base64url.")
        }
        return statement
    }
}
