// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import Crypto
internal import Foundation
internal import LoginAssertion
internal import Vault

/// What a key is used with: whoever asks the owner, and how.
struct Owner {
    let parts: ContextParts
    let options: LoginOptions

    private var presenter: any PromptPresenter { options.presenter ?? parts.presenter }

    /// What was shown at one prompt, and may be used for a signature without another.
    struct Recognition {
        let evaluation: Evaluation
        fileprivate let session: OwnerSession

        var method: LoginClaims.Method {
            switch evaluation.method {
            case .biometry: .finger
            case .passcode: .passcode
            }
        }
    }

    /// The machine as it is now; nobody is asked.
    func preflight(_ policy: Policy = .biometrics) async -> Preflight {
        await parts.service.preflight(policy, for: parts.application)
    }

    /// The one prompt, for what opens a key.
    ///
    /// It comes before the signature and not with it, since the assertion says how the owner was recognised and with which
    /// set of fingers.
    func recognise(for access: AccessControl, _ reason: String) async throws(LoginError) -> Recognition {
        let session = OwnerSession()
        var request = request(access.takesPasscode ? .deviceOwner : .biometrics, reason)
        request.session = session
        do {
            let evaluation = try await parts.service.evaluate(request, presenter: presenter)
            return Recognition(evaluation: evaluation, session: session)
        } catch {
            throw LoginError(.evaluation(error))
        }
    }

    /// The chip's signature for what was shown; nobody is asked for more.
    func sign(
        _ message: Data,
        with key: SealedItem,
        _ recognition: Recognition,
        _ reason: String
    ) async throws(LoginError) -> Data {
        var request = request(.deviceOwner, reason)
        request.session = recognition.session
        // What the claims say was shown is what the key is opened with, or nothing.
        request.interactionAllowed = false
        do throws(ReleaseError) {
            return try await parts.service.signature(
                over: Data(SHA256.hash(data: message)),
                with: .sealed(key),
                ReleaseRequest(request),
                presenter: presenter
            ).product.raw
        } catch {
            switch error {
            case .evaluation: throw LoginError(.notReleased)
            case .vault(let error): throw LoginError(refusal: error)
            }
        }
    }

    /// A signature with a prompt of its own, for what says nothing of how the owner was recognised.
    func signAsking(_ message: Data, with key: SealedItem, _ reason: String) async throws(LoginError)
        -> Signature
    {
        do throws(ReleaseError) {
            return try await parts.service.signature(
                over: Data(SHA256.hash(data: message)),
                with: .sealed(key),
                ReleaseRequest(request(.deviceOwner, reason)),
                presenter: presenter
            ).product
        } catch {
            switch error {
            case .evaluation(let error): throw LoginError(.evaluation(error))
            case .vault(let error): throw LoginError(refusal: error)
            }
        }
    }

    /// The key that a record holds; `nil` for what is none.
    func pair(_ record: LoginRecord.Key) -> LoginKeyPair? { LoginKeyPair(record, of: parts.service) }

    /// A new key of the chip.
    func makeKey(_ access: AccessControl) async throws(LoginError) -> SealedItem {
        do {
            return try await parts.service.makeKey(access: access, applicationPassword: nil)
        } catch {
            throw LoginError(.vault(error))
        }
    }

    /// Why a key made for a set of `fingers` is of no use any more, as far as it can be told without anybody; `nil` when
    /// nothing speaks against it.
    func loss(of key: SealedItem, madeFor fingers: Data?) async throws(LoginError) -> LoginError.Reason? {
        do throws(VaultError) {
            switch try await parts.service.standing(of: [key]).first {
            case .enrollmentChanged: return .fingersChanged
            case .tampered, nil: return .keyLost
            case .valid, .unknown: break
            }
        } catch {
            throw LoginError(refusal: error)
        }
        guard key.access.isBoundToCurrentSet else { return nil }
        let now = await preflight()
        // With the passcode as its other way the key would still open; but whoever knows that may have added a finger.
        if let state = now.domainState { return state == fingers ? nil : .fingersChanged }
        return now.obstacle?.code == .biometryNotEnrolled ? .fingersChanged : nil
    }

    func request(_ policy: Policy, _ reason: String) -> EvaluationRequest {
        EvaluationRequest(
            policy: policy,
            reason: reason,
            application: parts.application,
            cancelTitle: options.cancelTitle,
            fallbackTitle: options.fallbackTitle,
            timeout: options.patience
        )
    }
}

extension LoginError {
    /// What the vault's refusal of a key means.
    init(refusal error: VaultError) {
        switch error.code {
        case .enrollmentChanged: self.init(.mustEnableAgain(.fingersChanged))
        case .chipCleared, .itemTampered: self.init(.mustEnableAgain(.keyLost))
        case .counterLost, .noChip, .chipBusy, .chipCrowded, .chipFailed, .ownerAuthorizationNeeded,
            .chipFull,
            .chipLockedOut,
            .nameRefused, .noSuchItem, .itemExists, .measuredBootChanged, .accessDenied,
            .applicationPasswordNeeded, .applicationPasswordWrong, .secretEmpty, .secretTooLarge,
            .digestWrongSize, .publicKeyRefused, .accessRefused, .passcodeNotSet, .passcodeExists,
            .passcodeWrongSize, .passcodeWrong, .passcodeThrottled, .passcodeNeeded, .store:
            self.init(.vault(error))
        }
    }
}
