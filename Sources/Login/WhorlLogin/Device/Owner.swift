// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import LoginAssertion
internal import WhorlService

/// The owner of the device: prompts, and the operations with a key that need them.
struct Owner {
    let parts: ContextParts
    let options: LoginOptions

    private var presenter: any PromptPresenter { options.presenter ?? parts.presenter }

    /// The result of one prompt, which a signature can use without another.
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

    /// Returns the current state of the machine; there is no prompt.
    func preflight(_ policy: Policy = .biometrics) async -> Preflight {
        await parts.preflight(policy, for: parts.application)
    }

    /// Prompts the owner for the requirements of a key, or for a yes.
    ///
    /// The prompt is separate from the signature and precedes it, since the assertion says how the owner was recognized
    /// and with which set of fingers.
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

    /// Returns the chip's signature for the result of a prompt, without another prompt.
    func sign(
        _ message: Data,
        with key: SealedItem,
        _ recognition: Recognition,
        _ reason: String
    ) async throws(LoginError) -> Data {
        var request = request(.deviceOwner, recognition.purpose, reason)
        request.session = recognition.session
        // Only what the claims say was shown may open the key.
        request.interactionAllowed = false
        return try await called(
            await signature(over: message, with: key, request).raw,
            failing: { $0.code.appleCode == nil ? LoginError(refusal: $0) : LoginError(.notReleased) }
        )
    }

    /// Returns a signature with its own prompt, for messages that do not say how the owner was recognized.
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

    /// Returns the key of a record; `nil` if it cannot be read.
    func pair(_ record: LoginRecord.Key) -> LoginKeyPair? { LoginKeyPair(record, of: parts) }

    /// Makes a new key in the chip.
    func makeKey(_ access: AccessControl) async throws(LoginError) -> SealedItem {
        try await called(await parts.makeKey(access: access, applicationPassword: nil))
    }

    /// Returns the chip's identity, with a new attestation key.
    func chipIdentity() async throws(LoginError) -> ChipIdentity {
        try await called(await parts.ask(ReadChipIdentity()))
    }

    /// Makes a new key in the chip, with the chip's evidence.
    func makeKey(
        _ access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(LoginError) -> AttestedKey {
        try await called(await parts.ask(MakeAttestedKey(access: access, attestedFor: credential)))
    }

    /// Returns the reason why a key that was made for a set of `fingers` can no longer be used, as far as it is known
    /// without a prompt; `nil` if none is known.
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
        // With the passcode as an alternative the key would still open; but a person who knows the passcode may have
        // added a finger.
        if let state = now.domainState { return state == fingers ? nil : .fingersChanged }
        return now.obstacle?.code == .biometryNotEnrolled ? .fingersChanged : nil
    }

    /// Performs a call of the services.
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
    /// Makes the error that stands for the vault's refusal of a key.
    init(refusal error: ServiceError) {
        switch error.code {
        case .enrollmentChanged: self.init(.mustEnableAgain(.fingersChanged))
        case .chipCleared, .itemTampered: self.init(.mustEnableAgain(.keyLost))
        default: self.init(.service(error))
        }
    }
}
