// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import WhorlSecretMemory
internal import Synchronization
package import WhorlService
internal import WhorlSupport

/// The state and operations of a context.
///
/// It is separate from ``LAContext`` so that an evaluation can continue and reply without retaining the context.
/// Releasing the context ends the evaluation.
package final class ContextCore: Sendable {
    /// The result of an evaluation: the owner's proofs, in order.
    ///
    /// The list of proofs is empty only if no prompt was needed.
    package typealias Outcome = Result<[Evaluation], LAError>

    let parts: @Sendable () -> ContextParts
    let state = Mutex(ContextState())
    /// The session that stores the owner's proofs for this context, so that items can be opened without another prompt.
    let session = OwnerSession()
    /// A serial queue for replies, which gets a thread even if every thread of the shared pool is waiting for the
    /// reply.
    private let replies = DispatchQueue(label: "whorl.reply")
    /// A closure to call when ``evaluatedDomainState`` may have changed.
    private let domainStateDidChange = Mutex<@Sendable () -> Void>({})

    package init(parts: @escaping @Sendable () -> ContextParts) { self.parts = parts }

    /// The service that seals and opens items for this context.
    package var asker: any ServiceAsker { parts() }

    /// Calls `body` whenever ``evaluatedDomainState`` may have changed.
    package func onDomainStateChange(_ body: @escaping @Sendable () -> Void) {
        domainStateDidChange.withLock { $0 = body }
    }

    /// The program's settings for the context.
    package var settings: ContextSettings { state.withLock { $0.settings } }

    /// Changes the program's settings for the context.
    package func change(_ body: (inout ContextSettings) -> Void) { state.withLock { body(&$0.settings) } }

    /// The domain state at the last biometric success, or `nil` before the first one.
    package var evaluatedDomainState: Data? { state.withLock { $0.domainState } }

    /// The strength of the touch in the last success, or `nil` before the first one or if only the passcode was used.
    package var evaluatedStrength: TouchStrength? { state.withLock { $0.strength } }

    // MARK: - Preflight

    /// Checks whether an evaluation could succeed now.
    ///
    /// This method blocks the caller.
    package func check(_ policy: LAPolicy) throws(LAError) {
        guard !state.withLock({ $0.isInvalidated }) else {
            throw LAError(ServiceError(.invalidContext))
        }
        let preflight = preflight(try policy.serviceRequest())
        if let obstacle = preflight.obstacle { throw LAError(obstacle) }
        guard policy.isBiometric else { return }
        state.withLock { $0.domainState = preflight.domainState }
        tellDomainStateChange()
    }

    private func tellDomainStateChange() { domainStateDidChange.withLock(\.self)() }

    /// Returns the current state of the machine.
    ///
    /// This method blocks the caller.
    package func preflight(_ policy: Policy = .biometrics) -> Preflight {
        let parts = parts()
        return WorkerThread.preflights.wait {
            await parts.preflight(policy, for: parts.application)
        }
    }

    // MARK: - Evaluation

    /// Evaluates a requirement for a caller that waits in a task.
    ///
    /// Canceling that task ends the evaluation.
    package func evaluate(_ demand: EvaluationDemand, reason: String) async -> Outcome {
        do throws(LAError) {
            let task = try begin(demand, reason: reason)
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            return .failure(error)
        }
    }

    /// Evaluates a requirement, and replies exactly once, on the reply queue.
    package func evaluate(
        _ demand: EvaluationDemand,
        reason: String,
        reply: @escaping @Sendable (Outcome) -> Void
    ) {
        do throws(LAError) {
            let task = try begin(demand, reason: reason)
            Task(executorPreference: WorkerThread.evaluations) { [replies] in
                let outcome = await task.value
                replies.async { reply(outcome) }
            }
        } catch {
            replies.async { reply(.failure(error)) }
        }
    }

    /// Starts an evaluation.
    ///
    /// - Throws: An error that can be determined without a prompt. If it is thrown, no evaluation has been started.
    private func begin(
        _ demand: EvaluationDemand,
        reason: String
    ) throws(LAError) -> Task<Outcome, Never> {
        let parts = parts()
        return try state.withLock { state throws(LAError) in
            guard !state.isInvalidated else { throw LAError(ServiceError(.invalidContext)) }
            guard !DisplayText.isBlank(reason) else { throw LAError(ServiceError(.reasonMissing)) }
            var request = state.settings.request(.deviceOwner, reason: reason, for: parts.application)
            request.session = session
            let requests = try demand.requests(
                from: request,
                hasApplicationPassword: state.credentials[.applicationPassword] != nil
            )
            guard state.running == nil else { throw .contextIsBusy }
            let presenter = PresentingTask(presenter: state.settings.presenter ?? parts.presenter)
            let task = Task(executorPreference: WorkerThread.evaluations) { [self] in
                end(await ask(requests, parts, presenter), of: demand)
            }
            state.running = task
            return task
        }
    }

    /// Shows the prompts one after the other.
    ///
    /// The first prompt that fails ends the evaluation.
    private func ask(
        _ requests: [EvaluationRequest],
        _ asker: ContextParts,
        _ presenter: any PromptPresenter
    ) async -> Outcome {
        var shown: [Evaluation] = []
        do throws(ServiceError) {
            for request in requests {
                shown.append(try await asker.evaluate(request, presenter: presenter))
            }
            return .success(shown)
        } catch {
            return .failure(LAError(error))
        }
    }

    /// Records the outcome of an evaluation.
    ///
    /// After ``invalidate()``, the outcome is `appCancel`, even if the finger matched.
    private func end(_ outcome: Outcome, of demand: EvaluationDemand) -> Outcome {
        let domainState = demand.domainState(after: outcome)
        let result: Outcome = state.withLock { state in
            state.running = nil
            guard !state.isInvalidated else { return .failure(LAError(ServiceError(.appCancel))) }
            if let domainState { state.domainState = domainState }
            if case .success(let shown) = outcome { state.strength = shown.strengthOfTouch }
            return outcome
        }
        if domainState != nil { tellDomainStateChange() }
        return result
    }

    /// Ends the evaluation and all operations in progress, prevents new ones, and discards the owner's proofs.
    package func invalidate() {
        let (running, releases) = state.withLock { state in
            state.isInvalidated = true
            state.credentials = [:]
            return (state.running, Array(state.releases.values))
        }
        session.forget()
        running?.cancel()
        for cancel in releases { cancel() }
    }

    // MARK: - Credentials

    /// Stores or removes one of the program's credentials.
    ///
    /// - Returns: `false` if the context has been invalidated; otherwise, `true`.
    package func setCredential(_ credential: SecretBox?, _ kind: CredentialKind) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated else { return false }
            state.credentials[kind] = credential
            return true
        }
    }

    /// Returns whether a credential is stored.
    package func hasCredential(_ kind: CredentialKind) -> Bool {
        state.withLock { $0.credentials[kind] != nil }
    }
}

/// A protocol through which other modules access a program's context.
///
/// The keychain uses it to get the state of a context in a query.
package protocol ContextHolder: AnyObject {
    /// The state and operations of the context.
    var core: ContextCore { get }
}

extension [Evaluation] {
    /// The strength of the touch among the proofs, or `nil` if there is none.
    fileprivate var strengthOfTouch: TouchStrength? {
        var touch = first { $0.method == .biometry }?.strength
        if contains(where: { $0.method == .passcode }) { touch?.hasPasscode = true }
        return touch
    }
}

extension LAError {
    /// The error for starting an evaluation while another one is in progress in the context.
    fileprivate static var contextIsBusy: LAError {
        LAError(
            ServiceError(
                .systemCancel,
                message: "The context is already evaluating a policy.",
                recovery: "Wait for its reply, or use another context."
            )
        )
    }
}
