// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation
import Synchronization
import Testing

/// A server in memory, which believes nothing, over a transport that does what a test says.
final class FakeServer: LoginTransport {
    /// What becomes of a request.
    enum Fate: Sendable {
        /// It gets there, and the answer comes back.
        case answered
        /// It never gets there.
        case lost(any Error)
        /// It gets there, and the answer is lost.
        case answerLost
        /// Somebody else answers.
        case forged(LoginResponse)
    }

    struct Registered: Sendable {
        var key: LoginKey
        var domainState: Data?
        var name: String
    }

    struct Login: Sendable, Hashable {
        let user: String
        let device: String
    }

    /// What a challenge is for.
    private struct Use: Hashable {
        let login: Login
        let purpose: String
    }

    private struct State {
        var fates: [Fate] = []
        var devices: [Login: Registered] = [:]
        var challenges: [Data: Use] = [:]
        var paths: [String] = []
        var claims: [LoginClaims] = []
        var passwords: [String?] = []
        var ignoresDomainState = false
        var onRequest: (@Sendable (LoginRequest) async -> Void)?
    }

    let origin: LoginOrigin
    private let state = Mutex(State())
    static let password = "correct horse"

    init(_ origin: String = "https://bank.example") throws {
        guard let origin = LoginOrigin(origin) else { throw NotOurs() }
        self.origin = origin
    }

    struct NotOurs: Error {}

    /// The fates of the next requests, in order; later ones are answered.
    func next(_ fates: Fate...) { state.withLock { $0.fates += fates } }
    func forget() { state.withLock { $0.devices = [:] } }
    func restore(_ devices: [Login: Registered]) { state.withLock { $0.devices = devices } }
    /// Challenges that were given out are over.
    func endChallenges() { state.withLock { $0.challenges = [:] } }
    func ignoreDomainStates() { state.withLock { $0.ignoresDomainState = true } }
    func onRequest(_ body: @escaping @Sendable (LoginRequest) async -> Void) {
        state.withLock { $0.onRequest = body }
    }
    /// Does something when a request for this path is on its way, the first time.
    func onFirst(_ path: String, _ body: @escaping @Sendable () async -> Void) {
        onRequest { [self] request in
            guard request.path == path else { return }
            state.withLock { $0.onRequest = nil }
            await body()
        }
    }
    var devices: [Login: Registered] { state.withLock(\.devices) }
    /// `POST /v1/challenges` and so on, in order.
    var paths: [String] { state.withLock(\.paths) }
    /// What was signed and taken, in order.
    var claims: [LoginClaims] { state.withLock(\.claims) }
    /// The passwords that came with sign-ins.
    var passwords: [String?] { state.withLock(\.passwords) }

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        let (fate, onRequest) = state.withLock { state in
            state.paths.append("\(request.method.rawValue) \(request.path)")
            return (state.fates.isEmpty ? .answered : state.fates.removeFirst(), state.onRequest)
        }
        await onRequest?(request)
        switch fate {
        case .answered: return answer(request)
        case .lost(let error): throw error
        case .answerLost:
            _ = answer(request)
            throw LoginTransportError.timedOut
        case .forged(let response): return response
        }
    }

    private func answer(_ request: LoginRequest) -> LoginResponse {
        guard request.origin == origin else { return .problem(404, "not_found") }
        let body = request.body.flatMap { box in
            (try? JSONSerialization.jsonObject(with: box.bytes.withUnsafeBytes { Data($0) }))
                as? [String: String]
        }
        switch (request.method, request.path, body) {
        case (.post, "/v1/challenges", let body?): return challenge(body)
        case (.post, "/v1/devices", let body?): return enable(body, request.authorization)
        case (.post, "/v1/sessions", let body?): return signIn(body)
        case (.delete, let path, nil) where path.hasPrefix("/v1/devices/"):
            return revoke(String(path.dropFirst("/v1/devices/".count)), request.authorization)
        default: return .problem(400, "malformed")
        }
    }

    private func challenge(_ body: [String: String]) -> LoginResponse {
        guard let user = body["user"], let device = body["device"], let purpose = body["purpose"] else {
            return .problem(400, "malformed")
        }
        let challenge = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        let use = Use(login: Login(user: user, device: device), purpose: purpose)
        state.withLock { $0.challenges[challenge] = use }
        return .json(201, Self.challenge(challenge, origin.text))
    }

    /// The answer to a request for a challenge.
    static func challenge(_ challenge: Data, _ origin: String) -> [String: any Sendable] {
        ["challenge": Base64URL.encode(challenge), "expiresAt": 4_000_000_000, "origin": origin]
    }

    private func user(of authorization: SecretBox?) -> String? {
        let text = authorization?.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
        if text.hasPrefix("Bearer token-for-") { return String(text.dropFirst("Bearer token-for-".count)) }
        guard text.hasPrefix("Basic "), let data = Data(base64Encoded: String(text.dropFirst(6))) else {
            return nil
        }
        let pair = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1)
        return pair.count == 2 && pair[1] == Self.password ? String(pair[0]) : nil
    }

    private func enable(_ body: [String: String], _ authorization: SecretBox?) -> LoginResponse {
        guard let user = user(of: authorization) else { return .problem(401, "unauthorized") }
        guard let assertion = body["assertion"].flatMap({ try? UnverifiedAssertion($0) }) else {
            return .problem(400, "malformed")
        }
        guard takeChallenge(of: assertion, .enable) else { return .problem(401, "challenge_unknown") }
        guard let der = body["publicKey"].flatMap({ Base64URL.decode($0) }), let key = LoginKey(der: der),
            let claims = verified(assertion, .enable, with: key), claims.user.text == user,
            let name = body["name"]
        else { return .problem(401, "assertion_refused") }
        let login = Login(user: user, device: claims.device.text)
        state.withLock {
            $0.devices[login] = Registered(key: key, domainState: claims.domainState, name: name)
            $0.claims.append(claims)
        }
        return .json(
            201,
            ["user": user, "device": login.device, "keyID": key.id, "name": name, "enabledAt": 1_800_000_000]
        )
    }

    private func signIn(_ body: [String: String]) -> LoginResponse {
        guard let assertion = body["assertion"].flatMap({ try? UnverifiedAssertion($0) }) else {
            return .problem(400, "malformed")
        }
        guard takeChallenge(of: assertion, .login) else { return .problem(401, "challenge_unknown") }
        let claimed = assertion.unverifiedClaims
        let login = Login(user: claimed.user.text, device: claimed.device.text)
        guard let device = devices[login], device.key.id == claimed.keyID else {
            return .problem(401, "unknown_key")
        }
        guard let claims = verified(assertion, .login, with: device.key) else {
            return .problem(401, "assertion_refused")
        }
        let ignores = state.withLock(\.ignoresDomainState)
        guard ignores || claims.domainState == device.domainState else {
            return .problem(403, "reenable_required")
        }
        state.withLock {
            $0.claims.append(claims)
            $0.passwords.append(body["password"])
        }
        return .json(
            201,
            ["token": "token-for-\(login.user)", "tokenType": "Bearer", "expiresAt": 2_000_000_000]
        )
    }

    private func revoke(_ device: String, _ authorization: SecretBox?) -> LoginResponse {
        guard let user = user(of: authorization) else { return .problem(401, "unauthorized") }
        let was = state.withLock { $0.devices.removeValue(forKey: Login(user: user, device: device)) }
        return was == nil ? .problem(404, "not_found") : .json(204, nil)
    }

    /// Whether an assertion answers a challenge that was given out for it, which is then used up.
    private func takeChallenge(of assertion: UnverifiedAssertion, _ purpose: LoginClaims.Purpose) -> Bool {
        let claims = assertion.unverifiedClaims
        let login = Login(user: claims.user.text, device: claims.device.text)
        let use = Use(login: login, purpose: purpose.rawValue)
        return state.withLock { state in
            guard state.challenges[claims.challenge] == use else { return false }
            state.challenges[claims.challenge] = nil
            return true
        }
    }

    /// What an assertion says.
    private func verified(
        _ assertion: UnverifiedAssertion,
        _ purpose: LoginClaims.Purpose,
        with key: LoginKey
    ) -> LoginClaims? {
        let claims = assertion.unverifiedClaims
        let expectation = AssertionExpectation(
            origin: origin,
            user: claims.user,
            device: claims.device,
            challenge: claims.challenge,
            purpose: purpose
        )
        return try? assertion.verify(with: key, expecting: expectation, at: Int(Date().timeIntervalSince1970))
    }
}

extension LoginResponse {
    static func json(_ status: Int, _ object: [String: any Sendable]?, type: String = "application/json")
        -> LoginResponse
    {
        let data = object.flatMap { try? JSONSerialization.data(withJSONObject: $0) } ?? Data()
        return raw(status, data, type: type)
    }

    static func problem(_ status: Int, _ code: String, retryAfter: Int? = nil) -> LoginResponse {
        let object: [String: any Sendable] = [
            "type": "about:blank", "title": "t", "status": status, "code": code,
        ]
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return raw(status, data, type: "application/problem+json; charset=utf-8", retryAfter: retryAfter)
    }

    static func raw(_ status: Int, _ data: Data, type: String?, retryAfter: Int? = nil) -> LoginResponse {
        LoginResponse(status: status, contentType: type, retryAfter: retryAfter, body: secret(data))
    }
}

func secret(_ text: String) -> SecretBox { secret(Data(text.utf8)) }
func secret(_ data: Data) -> SecretBox {
    SecretBox(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
}
func text(_ box: SecretBox) -> String { box.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
func user(_ name: String) throws -> LoginName { try #require(LoginName(name)) }
