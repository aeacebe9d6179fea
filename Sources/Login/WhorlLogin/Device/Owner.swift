// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import LoginAssertion
internal import WhorlService

/// The owner of the device: prompts, and the key operations that need them.
struct Owner {
    let parts: ContextParts
    let options: LoginOptions

    private var presenter: any PromptPresenter { options.presenter ?? parts.presenter }

    /// The result of one prompt, which a signature can use without another prompt.
    struct Recognition {
        let evaluation: Evaluation
        fileprivate let session: OwnerSession
        fileprivate let purpose: TouchPurpose

        var method: LoginClaims.Method {
            switch evaluation.method {
            case .biometry: .finger
            case .passcode: .passcode
            }
        }
    }

    /// Returns the current state of the machine; shows no prompt.
    func preflight(_ policy: Policy = .biometrics) async -> Preflight {
        await parts.preflight(policy, for: parts.application)
    }

    /// Prompts the owner for the proof that a key requires, or for a confirmation.
    ///
    /// The prompt is separate from the signature and precedes it, because the assertion states how the owner was
    /// authenticated and which fingers were enrolled.
    func recognize(
        for access: AccessControl,
        _ purpose: TouchPurpose,
        _ reason: String
    ) async throws(LoginError) -> Recognition {
        let session = OwnerSession()
        var request = request(access.takesPasscode ? .deviceOwner : .biometrics, purpose, reason)
        request.session = session
        let evaluation = try await called(await parts.evaluate(request, presenter: presenter))
        return Recognition(evaluation: evaluation, session: session, purpose: purpose)
    }

    /// Returns the TPM's signature, using the result of an earlier prompt instead of prompting again.
    func sign(
        _ message: Data,
        with key: SealedItem,
        _ recognition: Recognition,
        _ reason: String
    ) async throws(LoginError) -> Data {
        var request = request(.deviceOwner, recognition.purpose, reason)
        request.session = recognition.session
        // The key may be unlocked only by what is in the claims.
        request.interactionAllowed = false
        return try await called(
            await signature(over: message, with: key, request).raw,
            failing: { $0.code.appleCode == nil ? LoginError(refusal: $0) : LoginError(.notReleased) }
        )
    }

    /// Prompts the owner and returns a signature, for messages that do not state how the owner was authenticated.
    func signAsking(_ message: Data, with key: SealedItem, _ reason: String) async throws(LoginError)
        -> Signature
    {
        try await called(
            await signature(over: message, with: key, request(.deviceOwner, .storedByProgram, reason)),
            failing: LoginError.init(refusal:)
        )
    }

    private func signature(
        over message: Data,
        with key: SealedItem,
        _ request: EvaluationRequest
    ) async throws(ServiceError) -> Signature {
        try await parts.signature(
            over: Data(SHA256.hash(data: message)),
            with: .sealed(key),
            ReleaseRequest(request),
            presenter: presenter
        ).product
    }

    /// Returns the key of a record; `nil` if it cannot be parsed.
    func pair(_ record: LoginRecord.Key) -> LoginKeyPair? { LoginKeyPair(record, of: parts) }

    /// Creates a new key in the TPM.
    func makeKey(_ access: AccessControl) async throws(LoginError) -> SealedItem {
        try await called(await parts.makeKey(access: access, applicationPassword: nil))
    }

    /// Returns the TPM's identity, with a new attestation key.
    func chipIdentity() async throws(LoginError) -> ChipIdentity {
        try await called(await parts.ask(ReadChipIdentity()))
    }

    /// Creates a new key in the TPM, with the TPM's evidence.
    func makeKey(
        _ access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(LoginError) -> AttestedKey {
        try await called(await parts.ask(MakeAttestedKey(access: access, attestedFor: credential)))
    }

    /// Returns the reason why a key that was created for a set of `fingers` is no longer usable, as far as it is known
    /// without a prompt; otherwise `nil`.
    func loss(of key: SealedItem, madeFor fingers: Data?) async throws(LoginError) -> LoginError.Reason? {
        let standing = try await called(
            await parts.standing(of: [key]).first,
            failing: LoginError.init(refusal:)
        )
        switch standing {
        case .enrollmentChanged: return .fingersChanged
        case .tampered, nil: return .keyLost
        case .valid, .unknown: break
        }
        guard key.access.isBoundToCurrentSet else { return nil }
        let now = await preflight()
        // With the passcode as an alternative the key could still be unlocked, but someone with the passcode may have
        // added a finger.
        if let state = now.domainState { return state == fingers ? nil : .fingersChanged }
        return now.obstacle?.code == .biometryNotEnrolled ? .fingersChanged : nil
    }

    /// Calls the services and converts their errors.
    private func called<Value>(
        _ call: @autoclosure () async throws(ServiceError) -> Value,
        failing failure: (ServiceError) -> LoginError = { LoginError(.service($0)) }
    ) async throws(LoginError) -> Value {
        do { return try await call() } catch { throw failure(error) }
    }

    func request(_ policy: Policy, _ purpose: TouchPurpose, _ reason: String) -> EvaluationRequest {
        EvaluationRequest(
            policy: policy,
            purpose: purpose,
            reason: reason,
            application: parts.application,
            cancelTitle: options.cancelTitle,
            fallbackTitle: options.fallbackTitle,
            timeout: options.patience
        )
    }
}

extension LoginError {
    /// Creates the error for a key that the vault refused to use.
    init(refusal error: ServiceError) {
        switch error.code {
        case .enrollmentChanged: self.init(.mustEnableAgain(.fingersChanged))
        case .chipCleared, .itemTampered: self.init(.mustEnableAgain(.keyLost))
        default: self.init(.service(error))
        }
    }
}
