// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Synchronization
internal import WhorlSystem

/// What a context speaks to.
struct ContextServices: Sendable {
    let authentication: @Sendable () -> any AuthenticationService
    let presenter: @Sendable () -> any PromptPresenter
    let application: ApplicationID

    /// What this process's environment says.
    static var system: ContextServices {
        ContextServices(
            authentication: { SystemServices.shared.authentication },
            presenter: { SystemServices.shared.presenter },
            application: SystemServices.shared.application
        )
    }
}

/// A context's memory and its running evaluation.
///
/// It is apart from the context because an evaluation must not keep the context alive: when the program lets the
/// context go, the evaluation ends.
final class ContextCore: Sendable {
    /// The properties that a program sets, and what the evaluations left behind.
    struct State {
        var fallbackTitle: String?
        var cancelTitle: String?
        var reason = ""
        var maxBiometryFailures: Int?
        var reuseDuration: TimeInterval = 0
        var interactionNotAllowed = false

        /// `nil` until a preflight was asked for.
        var biometryType: LABiometryType?
        var evaluatedDomainState: Data?

        fileprivate var isInvalid = false
        fileprivate var running: Running?
    }

    /// An evaluation that has begun; its task comes a moment later.
    fileprivate enum Running {
        case beginning
        case task(Task<Outcome, Never>)
    }

    typealias Outcome = Result<Evaluation, AuthenticationError>

    /// The one evaluation that a context allows at a time.
    struct Ticket: Sendable {
        let request: EvaluationRequest
    }

    let services: ContextServices
    /// The lock that makes ``LAContext`` safe to share.
    private let state = Mutex(State())

    init(_ services: ContextServices) { self.services = services }

    subscript<Value: Sendable>(_ property: WritableKeyPath<State, Value> & Sendable) -> Value {
        get { state.withLock { $0[keyPath: property] } }
        set { state.withLock { $0[keyPath: property] = newValue } }
    }

    // MARK: - Preflight

    /// Asks whether the policy could be met, blocks until the answer is there, and remembers what goes with it.
    func preflight(_ policy: LAPolicy) -> LAError? {
        guard !state.withLock({ $0.isInvalid }) else { return LAError(AuthenticationError(.invalidContext)) }
        let answer = preflight(Policy(policy) ?? .biometrics)
        let error = Policy(policy) == nil ? .companionNotAvailable : answer.obstacle.map(LAError.init)
        state.withLock { state in
            state.biometryType = LABiometryType(answer)
            if error == nil, policy.isBiometric { state.evaluatedDomainState = answer.domainState }
        }
        return error
    }

    /// The same for those who want the facts alone.
    func preflight(_ policy: Policy) -> Preflight {
        let services = services
        return PreflightThread.answer {
            await services.authentication().preflight(policy, for: services.application)
        }
    }

    // MARK: - Evaluation

    /// Takes the context's one place for an evaluation, or says at once why it fails.
    func begin(_ policy: LAPolicy, _ request: EvaluationRequest) -> Result<Ticket, LAError> {
        state.withLock { state in
            if state.isInvalid { return .failure(LAError(AuthenticationError(.invalidContext))) }
            if DisplayText.isBlank(request.reason) { return .failure(LAError(AuthenticationError(.reasonMissing))) }
            guard Policy(policy) != nil else { return .failure(.companionNotAvailable) }
            guard state.running == nil else { return .failure(.anotherEvaluation) }
            state.running = .beginning
            return .success(Ticket(request: request))
        }
    }

    /// Runs the evaluation. It ends as soon as the context is invalidated or the caller's task cancelled.
    func evaluate(_ ticket: Ticket) async -> Result<Evaluation, LAError> {
        let services = services
        let task = Task { () -> Outcome in
            do throws(AuthenticationError) {
                return .success(
                    try await services.authentication().evaluate(ticket.request, presenter: services.presenter())
                )
            } catch {
                return .failure(error)
            }
        }
        let isInvalid = state.withLock { state in
            state.running = .task(task)
            return state.isInvalid
        }
        if isInvalid { task.cancel() }
        return finish(
            await withTaskCancellationHandler { await task.value } onCancel: { task.cancel() }
        )
    }

    private func finish(_ outcome: Outcome) -> Result<Evaluation, LAError> {
        state.withLock { state in
            state.running = nil
            // A context that was given up meanwhile lets nobody in, even if the finger matched in the last moment.
            guard !state.isInvalid else { return .failure(LAError(AuthenticationError(.appCancel))) }
            switch outcome {
            case .failure(let error): return .failure(LAError(error))
            case .success(let evaluation):
                if evaluation.method == .biometry { state.evaluatedDomainState = evaluation.domainState }
                return .success(evaluation)
            }
        }
    }

    /// Ends the running evaluation, and every later one before it begins.
    func invalidate() {
        let running = state.withLock { state in
            state.isInvalid = true
            return state.running
        }
        if case .task(let task) = running { task.cancel() }
    }
}

extension Policy {
    /// The engine's policy; `nil` for one that needs a paired device.
    init?(_ policy: LAPolicy) {
        switch policy {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            self = .biometrics
        case .deviceOwnerAuthentication: self = .deviceOwner
        case .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithWristDetection: return nil
        }
    }
}

extension LAPolicy {
    /// Whether only a finger meets it here.
    fileprivate var isBiometric: Bool { Policy(self) == .biometrics }
}

extension LABiometryType {
    init(_ preflight: Preflight) { self = preflight.hasReader ? .touchID : .none }
}

extension LAError {
    fileprivate static var companionNotAvailable: LAError {
        LAError(
            Code.companionNotAvailable,
            userInfo: [
                NSLocalizedDescriptionKey: "No paired device can vouch for the owner on this system.",
                NSLocalizedRecoverySuggestionErrorKey: "Ask for a finger or the passcode instead.",
            ]
        )
    }

    fileprivate static var anotherEvaluation: LAError {
        LAError(
            Code.systemCancel,
            userInfo: [
                NSLocalizedDescriptionKey: "Another evaluation of this context is going on.",
                NSLocalizedRecoverySuggestionErrorKey: "Wait for it to end, or use another context.",
            ]
        )
    }
}
