// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

/// One touch for a login or a screen locker, which the calling program shows by itself.
extension ServiceHost {
    /// The time that a login waits for others that use the reader; typing a password is faster than a longer wait.
    static var patience: Duration { .seconds(2) }

    /// Returns the request for a touch that a PAM service asks for, without a session of the owner, so that the touch
    /// leaves no proof.
    ///
    /// - Parameters:
    ///   - purpose: What the touch is for.
    ///   - shown: The purpose as the journal shows it.
    ///   - milliseconds: How long to wait for the touch, in milliseconds.
    ///   - mostTries: The maximum number of touches; `nil` for the usual number.
    ///   - caller: The program that asks.
    /// - Returns: The request.
    func touchRequest(
        _ purpose: TouchPurpose,
        as shown: CallPurpose,
        milliseconds: Int64,
        mostTries: Int?,
        _ caller: Caller
    ) -> EvaluationRequest {
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: purpose,
            reason: shown.text,
            application: ApplicationID(rawValue: shown.application),
            timeout: min(.milliseconds(max(milliseconds, 0)), promptRules.longestTimeout)
        )
        request.patience = Self.patience
        request.mostTries = mostTries
        // Without a stay in a session, no later request can reuse the touch.
        request.asker = caller.asker
        request.fingerObstacle = caller.fingerObstacle
        return request
    }

    /// Runs an evaluation that `calls` can end, such as when its login session is locked.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - owner: The owner's service.
    ///   - presenter: Shows the messages.
    ///   - calls: The calls that the evaluation belongs to.
    ///   - session: The login session; `nil` for an evaluation that does not end with one.
    /// - Returns: The evaluation.
    /// - Throws: The evaluation's error, or the reason why it was ended.
    func evaluate(
        _ request: EvaluationRequest,
        by owner: any ServiceAsker,
        _ presenter: LoginPresenter,
        asOneOf calls: RunningCalls,
        in session: String?
    ) async throws(ServiceError) -> Evaluation {
        let reason = Mutex<ServiceError?>(nil)
        let work = Task { () async -> Result<Evaluation, ServiceError> in
            await Result(of: try await owner.evaluate(request, presenter: presenter))
        }
        let number = calls.add(in: session) { error in
            reason.withLock { $0 = error }
            work.cancel()
        }
        defer { calls.remove(number) }
        let answer = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        guard case .failure = answer, let reason = reason.withLock(\.self) else { return try answer.get() }
        throw reason
    }
}

extension Evaluation {
    /// Whether it was a touch for this request.
    ///
    /// The policy of logins accepts nothing else; anything else would be a bug, and does not count as a match.
    var isNewTouch: Bool { method == .biometry && !isReused }
}

extension LoginRefused {
    static let notATouch = LoginRefused(ServiceError(.authenticationFailed), .failed)
}

/// The presenter for a login, which sends messages for the user to the requesting program and does not accept anything
/// from it.
struct LoginPresenter: PromptPresenter {
    let call: ServiceCall

    /// Whether the user can see the prompt: a program that does not accept updates cannot show any messages.
    var isInteractive: Bool { get async { call.wantsMore } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            guard !update.isEnd, let message = prompt.message(for: update) else { continue }
            call.update(LoginInterface.Answer(message: message))
        }
        return nil
    }
}

extension PromptUpdate {
    /// Whether the update only reports the outcome, which the reply contains as well.
    fileprivate var isEnd: Bool {
        switch self {
        case .matched, .verified, .ended: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking, .wrongPasscode, .throttled,
            .passcodeEnded:
            false
        }
    }
}
