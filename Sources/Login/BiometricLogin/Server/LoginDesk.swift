// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import Foundation
internal import LoginAssertion
internal import LoginTransport
internal import SecretMemory
internal import Vault
internal import WhorlSupport

/// What one call of a client works with: the owner, the records, the server.
struct LoginDesk {
    let server: LoginOrigin
    let transport: any LoginTransport
    let options: LoginOptions
    let owner: Owner
    let records: RecordStore

    init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions, parts: ContextParts) {
        self.server = server
        self.transport = transport
        self.options = options
        owner = Owner(parts: parts, options: options)
        records = RecordStore(parts: parts, service: "whorl login " + server.text)
    }

    // MARK: - Records

    func record(of user: LoginName) async throws(LoginError) -> LoginRecord? {
        try await records.record(of: user.text, as: LoginRecord.self)
    }

    /// The record of a user, or the only one with a key; keys that the server refused count where there are no others.
    func found(_ user: LoginName?) async throws(LoginError) -> (LoginName, LoginRecord)? {
        if let user { return try await record(of: user).map { (user, $0) } }
        var found: [(LoginName, LoginRecord)] = []
        for user in try await users() {
            guard let record = try await record(of: user), !record.keys.isEmpty else { continue }
            found.append((user, record))
        }
        if found.contains(where: \.1.isLive) { found.removeAll { !$0.1.isLive } }
        guard found.count < 2 else { throw LoginError(.severalAccounts) }
        return found.first
    }

    /// Those who have a record here.
    func users() async throws(LoginError) -> [LoginName] {
        try await records.accounts().compactMap { LoginName($0) }
    }

    /// Changes the record as it is at this moment, in one step: others may have changed it since it was read.
    ///
    /// - Returns: Whether it was changed; it is not where `change` gives `nil`.
    @discardableResult
    func change(
        _ user: LoginName,
        _ change: @escaping @Sendable (LoginRecord?) -> LoginRecord?
    ) async throws(LoginError) -> Bool {
        try await records.change(user.text, label: "Login of \(user) to \(server)", change)
    }

    func delete(_ user: LoginName) async throws(LoginError) { try await records.delete(user.text) }

    // MARK: - The server

    func send(_ request: LoginRequest) async throws(LoginError) -> LoginResponse {
        do {
            return try await transport.send(request)
        } catch let error as LoginTransportError {
            throw LoginError(.transport(error))
        } catch is CancellationError {
            throw LoginError(.transport(.cancelled))
        } catch {
            // It may hold what was sent: only that there was one is told.
            throw LoginError(.transport(.failed))
        }
    }

    func challenge(
        _ purpose: LoginClaims.Purpose,
        for user: LoginName,
        on device: LoginName
    ) async throws(LoginError) -> Challenge {
        try Challenge(await send(.challenge(for: user, on: device, purpose, to: server)), from: server)
    }

    /// How often a challenge is answered for one touch.
    private static let mostAnswers = 5

    /// What comes of answering a challenge; where it has ended meanwhile, another is fetched and answered.
    ///
    /// A server keeps one for a user, a device and a purpose, and not for long: another sign-in has one take its place, or
    /// it ends while the owner is waited for. What the owner has shown goes for the next one too: nobody is asked again.
    func answering<Value>(
        _ challenge: Challenge,
        _ purpose: LoginClaims.Purpose,
        for user: LoginName,
        on device: LoginName,
        _ answer: (Challenge) async throws(LoginError) -> Value
    ) async throws(LoginError) -> Value {
        var challenge = challenge
        for number in 1..<Self.mostAnswers {
            let start = ContinuousClock.now
            do throws(LoginError) {
                return try await answer(challenge)
            } catch {
                guard error.code == .refused(.challengeUnknown) else { throw error }
            }
            if number > 1 {
                // Sign-ins in step would go on taking each other's place.
                let round = (ContinuousClock.now - start) * Double.random(in: 0...Double(1 << number))
                try? await Task.sleep(for: min(round, .seconds(1)))
            }
            challenge = try await self.challenge(purpose, for: user, on: device)
        }
        return try await answer(challenge)
    }

    // MARK: - The assertion

    /// The program's own part of an assertion.
    struct Wishes {
        /// What concerns the program and its service alone.
        var app: [String: String] = [:]
        /// Whom the session's token is for; `nil` for the server itself.
        var service: String?
    }

    /// What the device says, signed by the chip.
    ///
    /// Between the touch and the signature nothing else is waited for: the challenge is there, and the chip is what it
    /// takes.
    func assertion(
        _ purpose: LoginClaims.Purpose,
        of user: LoginName,
        on device: LoginName,
        _ challenge: Challenge,
        with pair: LoginKeyPair,
        _ recognition: Owner.Recognition,
        asking wishes: Wishes = Wishes(),
        _ reason: String
    ) async throws(LoginError) -> String {
        let claims = LoginClaims(
            origin: server,
            user: user,
            device: device,
            keyID: pair.key.id,
            purpose: purpose,
            challenge: challenge.bytes,
            issuedAt: Int(Date().timeIntervalSince1970),
            id: Data((0..<16).map { _ in UInt8.random(in: 0...255) }),
            domainState: recognition.evaluation.domainState,
            method: recognition.method,
            app: wishes.app,
            service: wishes.service
        )
        guard let claims else { throw LoginError(.claimsRefused) }
        let draft = AssertionDraft(claims)
        return draft.signed(try await owner.sign(draft.signingInput, with: pair.item, recognition, reason))
    }

    /// What the prompt says where the program says nothing.
    func reason(_ given: String?, for user: LoginName) -> String {
        if let given, !DisplayText.isBlank(given) { return given }
        let host = server.text.drop { $0 != "/" }.dropFirst(2)
        return "sign in to \(host) as \(user)"
    }
}
