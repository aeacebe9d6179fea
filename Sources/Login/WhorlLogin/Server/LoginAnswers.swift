// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LoginAssertion
internal import LoginTransport
internal import WhorlSecretMemory

/// A server's challenge, after validation.
struct Challenge {
    /// The challenge, 32 bytes.
    let bytes: Data

    /// Creates a challenge from a response.
    ///
    /// - Throws: `answerRefused` if the size is wrong or the response names another origin, because an assertion for
    ///   that origin would not be valid on this server, but possibly on another.
    init(_ response: LoginResponse, from origin: LoginOrigin) throws(LoginError) {
        struct Answer: Decodable {
            let challenge: String
            let expiresAt: Int
            let origin: String
        }
        let answer = try response.decoded(as: Answer.self, status: 201)
        guard answer.origin == origin.text else { throw LoginError(.answerRefused(.otherOrigin)) }
        guard let bytes = Base64URL.decode(answer.challenge), bytes.count == LoginClaims.challengeSize else {
            throw LoginError(.answerRefused(.malformed))
        }
        self.bytes = bytes
    }
}

extension LoginResponse {
    /// Checks that a device was registered as requested, and returns the time of registration.
    func checkRegistered(_ user: LoginName, _ device: LoginName, _ key: LoginKey) throws(LoginError) -> Date {
        struct Answer: Decodable {
            let user: String
            let device: String
            let keyID: String
            let name: String
            let enabledAt: Int
        }
        let answer = try decoded(as: Answer.self, status: 201)
        // Names are compared by their bytes: text that only looks the same is a different name.
        guard LoginName(answer.user) == user, LoginName(answer.device) == device, answer.keyID == key.id
        else {
            throw LoginError(.answerRefused(.otherDevice))
        }
        return try Self.date(answer.enabledAt)
    }

    /// Returns a server's credential for this device's TPM; only the TPM can validate it.
    func credential() throws(LoginError) -> (nonce: Data, credential: Data, secret: Data) {
        struct Answer: Decodable {
            let nonce: String
            let credential: String
            let secret: String
            let expiresAt: Int
        }
        let answer = try decoded(as: Answer.self, status: 201)
        guard let nonce = Base64URL.decode(answer.nonce), nonce.count == 16,
            let credential = Base64URL.decode(answer.credential),
            let secret = Base64URL.decode(answer.secret)
        else { throw LoginError(.answerRefused(.malformed)) }
        return (nonce, credential, secret)
    }

    /// Returns the session, after validation of its token.
    func session() throws(LoginError) -> (token: SecretBox, expiresAt: Date) {
        /// The decoder copies the token to a string, which cannot be wiped. The string exists only briefly, and the
        /// token is copied to locked memory here.
        struct Answer: Decodable {
            let token: String
            let tokenType: String
            let expiresAt: Int
        }
        let answer = try decoded(as: Answer.self, status: 201)
        let token = SecretBox(plain: answer.token)
        guard answer.tokenType == "Bearer", token.isTokenText else {
            throw LoginError(.answerRefused(.malformed))
        }
        return (token, try Self.date(answer.expiresAt))
    }

    private static func date(_ seconds: Int) throws(LoginError) -> Date {
        guard (0...253_402_300_799).contains(seconds) else { throw LoginError(.answerRefused(.malformed)) }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Decodes the body after checking that the status is the expected one.
    fileprivate func decoded<Answer: Decodable>(as: Answer.Type, status: Int) throws(LoginError) -> Answer {
        try check(status)
        guard contentType?.isMedia("application/json") == true,
            let answer = try? JSONDecoder().decode(Answer.self, from: data)
        else { throw LoginError(.answerRefused(.malformed)) }
        return answer
    }

    /// Checks that the status is the expected one.
    ///
    /// - Throws: The error for any other status.
    func check(_ wanted: Int) throws(LoginError) {
        guard body.bytes.count <= Self.longestBody else { throw LoginError(.answerRefused(.tooLarge)) }
        guard status != wanted else { return }
        switch status {
        case 300..<400: throw LoginError(.answerRefused(.redirected))
        case 400..<500:
            guard let code = problem else { throw LoginError(.answerRefused(.malformed)) }
            throw LoginError(meaning(of: code))
        case 500..<600: throw LoginError(.serverFailed(status: status))
        default: throw LoginError(.answerRefused(.malformed))
        }
    }

    /// The code in a problem document (RFC 9457), whose text is ignored.
    private var problem: String? {
        struct Problem: Decodable { let code: String }
        guard contentType?.isMedia("application/problem+json") == true else { return nil }
        return (try? JSONDecoder().decode(Problem.self, from: data))?.code
    }

    private func meaning(of code: String) -> LoginError.Code {
        switch (status, code) {
        case (401, "unknown_key"): .mustEnableAgain(.unknownToServer)
        case (403, "reenable_required"): .mustEnableAgain(.serverWantsItAgain)
        case (401, "unauthorized"): .unauthorized
        case (429, _): .tooManyTries(seconds: min(max(retryAfter ?? 60, 1), 86_400))
        default: .refused(LoginError.Refusal(rawValue: code) ?? .other)
        }
    }

    private var data: Data { body.bytes.withUnsafeBytes { Data($0) } }
}

extension String {
    /// Returns whether a `Content-Type` is of the given media type, ignoring parameters.
    fileprivate func isMedia(_ type: String) -> Bool {
        prefix { $0 != ";" }.split(separator: " ").first?.lowercased() == type
    }
}
