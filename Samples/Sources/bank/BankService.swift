// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation

/// The bank's service, which identifies customers by the login server's tokens.
///
/// It uses the login's transport, which does not follow redirects, does not store anything, and keeps tokens in locked
/// memory.
struct BankService {
    /// The reason why the bank refused a request.
    struct Refusal: Error, Decodable {
        enum Code: String, Decodable {
            case signedOut = "unauthorized"
            case stepUpRequired = "step_up_required"
            case tokenUsed = "token_used"
            case anotherOrder = "another_order"
            case notEnough = "not_enough"
            case noSuchAccount = "no_such_account"
            case malformed
        }

        let code: Code

        var words: String {
            switch code {
            case .signedOut: "You are signed out. Try again."
            case .stepUpRequired:
                "A transfer takes a touch and the password, on a device that the bank has approved."
            case .tokenUsed: "That transfer was made already."
            case .anotherOrder: "The touch was for another transfer."
            case .notEnough: "You do not have that much."
            case .noSuchAccount: "Nobody of that name has an account here."
            case .malformed: "The bank did not understand."
            }
        }
    }

    private struct Account: Decodable {
        let balance: Int
    }

    private struct Transfer: Encodable {
        let amount: Int
        let to: String
    }

    /// The audience of the tokens.
    ///
    /// The service accepts only tokens for it.
    static let name = "urn:whorl:sample:bank"

    let origin: LoginOrigin
    let transport: any LoginTransport

    func balance(_ session: LoginSession) async throws -> Money {
        try await ask(.get, "/balance", session)
    }

    func transfer(_ amount: Money, to payee: String, _ session: LoginSession) async throws -> Money {
        let body = try JSONEncoder().encode(Transfer(amount: amount.cents, to: payee))
        return try await ask(.post, "/transfer", session, body)
    }

    /// Sends a request and returns the balance, which is in every successful response.
    private func ask(
        _ method: LoginRequest.Method,
        _ path: String,
        _ session: LoginSession,
        _ body: Data? = nil
    ) async throws -> Money {
        var header = SecretBuffer(capacity: 7 + session.token.bytes.count)
        for byte in "Bearer ".utf8 { _ = header.append(byte) }
        _ = header.append { room in session.token.bytes.withUnsafeBytes { $0.copyBytes(to: room) } }
        let request = LoginRequest(
            to: origin,
            method,
            path,
            authorization: SecretBox(header.take()),
            body: body.map { body in SecretBox(SecretBytes(count: body.count) { body.copyBytes(to: $0) }) }
        )
        let response = try await transport.send(request)
        let answer = response.body.bytes.withUnsafeBytes { Data($0) }
        guard response.status == 200 else { throw try JSONDecoder().decode(Refusal.self, from: answer) }
        return Money(cents: try JSONDecoder().decode(Account.self, from: answer).balance)
    }
}
