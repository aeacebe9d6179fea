// SPDX-License-Identifier: Apache-2.0

internal import WhorlService
internal import FoundationEssentials
internal import LoginAssertion
internal import LoginTransport
internal import WhorlSecretMemory
internal import WhorlSupport

/// The context of one call to a client: the owner, the records and the server.
struct LoginCall {
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

    /// Returns the record of a user, or the only record with a key; refused keys count only if there are no other keys.
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

    /// Returns the users with a record on this device.
    func users() async throws(LoginError) -> [LoginName] {
        try await records.accounts().compactMap { LoginName($0) }
    }

    /// Changes the current record in one transaction, because another process may have changed it since it was read.
    ///
    /// - Returns: Whether the record was changed; `false` if `change` returns `nil`.
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
        } catch {
            // Other errors may contain request data, so only their existence is reported.
            let unknown = error is CancellationError ? LoginTransportError.cancelled : .failed
            throw LoginError(.transport(error as? LoginTransportError ?? unknown))
        }
    }

    func challenge(
        _ purpose: LoginClaims.Purpose,
        for user: LoginName,
        on device: LoginName
    ) async throws(LoginError) -> Challenge {
        try Challenge(await send(.challenge(for: user, on: device, purpose, to: server)), from: server)
    }

    /// Prompts the owner, responds to a challenge and returns the result; if the challenge has expired, does so once
    /// more with a new challenge.
    ///
    /// A challenge may expire during the prompt. An authentication is valid for only one signature, so the new
    /// challenge requires another prompt.
    func answering<Value>(
        _ challenge: Challenge,
        _ purpose: LoginClaims.Purpose,
        for user: LoginName,
        on device: LoginName,
        prompting prompt: () async throws(LoginError) -> Owner.Recognition,
        _ answer: (Challenge, Owner.Recognition) async throws(LoginError) -> Value
    ) async throws(LoginError) -> Value {
        let recognition = try await prompt()
        do throws(LoginError) {
            return try await answer(challenge, recognition)
        } catch {
            guard error.code == .refused(.challengeUnknown) else { throw error }
        }
        let next = try await self.challenge(purpose, for: user, on: device)
        return try await answer(next, try await prompt())
    }

    // MARK: - The assertion

    /// The parts of an assertion that the app chooses.
    struct Wishes {
        /// The claims that concern only the app and its service.
        var app: [String: String] = [:]
        /// The service that the session token is for; `nil` for the login server itself.
        var service: String?
    }

    /// Returns an assertion of the device, signed by the TPM.
    ///
    /// The challenge was fetched before the touch, so only the TPM's work delays the signature.
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

    /// Returns the reason for the prompt: the app's, or a default.
    func reason(_ given: String?, for user: LoginName) -> String {
        if let given, !DisplayText.isBlank(given) { return given }
        return "sign in to \(host) as \(user)"
    }

    /// The server's name and port, for prompts.
    var host: String { String(server.text.drop { $0 != "/" }.dropFirst(2)) }
}
