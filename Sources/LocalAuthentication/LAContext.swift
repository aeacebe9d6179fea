// SPDX-License-Identifier: Apache-2.0

internal import Authentication
public import Observation

/// Asks whether the device's owner is there.
///
/// ```swift
/// let context = LAContext()
/// if try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Open the vault") {
///     openVault()
/// }
/// ```
///
/// A success is the return value and nothing else. Everything that is not a positive match ends with an ``LAError``
/// whose `localizedDescription` says what happened, and whose recovery suggestion says what the person can do.
///
/// It behaves as Apple's class of this name, except:
///
/// - A usable finger is enough: where no passcode is set, an enrolled finger still evaluates (on Apple's systems it is
///   `passcodeNotSet`), since here a passcode belongs to the store of secrets and not to the machine.
/// - An empty reason, or one of white space, is no exception but an error before any prompt. Its code is
///   `authenticationFailed`, a plain refusal that every program handles; the underlying error says `reasonMissing`.
/// - A second evaluation while one runs on the same context ends with `systemCancel`, and the first one goes on.
/// - Cancelling the task of the async form ends the evaluation with `appCancel`.
/// - ``touchIDAuthenticationAllowableReuseDuration`` takes a match of Whorl's own, since there is no lock screen to
///   ask.
/// - `canEvaluatePolicy` may be called within a reply, and blocks only its caller.
/// - A context may be used by several threads at once.
///
/// The two forms of `evaluatePolicy` do not call each other: a subclass that changes one leaves the other alone.
open class LAContext: NSObject, @unchecked Sendable {
    // Unchecked because it is open for subclasses: its own state is all in `core`, behind the lock `ContextCore.state`.
    private let core: ContextCore

    /// Replies are given here: not on the caller's thread, and not in each other's way.
    private static let replies = DispatchQueue(label: "whorl.local-authentication.reply", attributes: .concurrent)

    /// A context for one or more evaluations, with the services of this process's environment.
    public override init() {
        core = ContextCore(.system)
        super.init()
    }

    /// A context with other services.
    package init(
        authentication: any AuthenticationService,
        presenter: any PromptPresenter,
        application: ApplicationID
    ) {
        core = ContextCore(
            ContextServices(
                authentication: { authentication },
                presenter: { presenter },
                application: application
            )
        )
        super.init()
    }

    // What is given up ends what it started.
    deinit { core.invalidate() }

    // MARK: - Evaluating

    /// Whether the policy could be met now. It never prompts, and blocks its caller for a moment.
    ///
    /// It sets ``biometryType`` whatever it answers, and ``evaluatedPolicyDomainState`` when it answers `true` for a
    /// policy that only a finger meets.
    ///
    /// - Parameters:
    ///   - policy: What would have to be shown.
    ///   - error: Gets an error in ``LAErrorDomain`` when the answer is `false`, and `nil` otherwise.
    /// - Returns: Whether an evaluation could succeed; it may fail all the same.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let obstacle = core.preflight(policy)
        error?.pointee = obstacle?._nsError
        return obstacle == nil
    }

    /// Asks the person, and replies exactly once, on a queue of its own.
    ///
    /// The context has to be kept until then: when it is let go, the evaluation ends with ``LAError/appCancel``.
    ///
    /// - Parameters:
    ///   - policy: What must be shown.
    ///   - localizedReason: Why the program asks; it is shown to the person and must not be empty.
    ///   - reply: Gets `(true, nil)`, or `false` and an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let core = core
        switch core.begin(policy, request(policy, localizedReason)) {
        case .failure(let error): LAContext.replies.async { reply(false, error) }
        case .success(let ticket):
            Task {
                let result = await core.evaluate(ticket)
                LAContext.replies.async {
                    switch result {
                    case .success: reply(true, nil)
                    case .failure(let error): reply(false, error)
                    }
                }
            }
        }
    }

    /// Asks the person, and returns only when the policy is met.
    ///
    /// - Parameters:
    ///   - policy: What must be shown.
    ///   - localizedReason: Why the program asks; it is shown to the person and must not be empty.
    /// - Returns: `true`.
    /// - Throws: An ``LAError`` for everything that is not a success.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        let ticket = try core.begin(policy, request(policy, localizedReason)).get()
        switch await core.evaluate(ticket) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Ends a running evaluation with ``LAError/appCancel``, and later ones with ``LAError/invalidContext``.
    ///
    /// It is for ever, may be called again, and happens by itself when the context is let go.
    open func invalidate() { core.invalidate() }

    private func request(_ policy: LAPolicy, _ reason: String) -> EvaluationRequest {
        let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
        let reuse = touchIDAuthenticationAllowableReuseDuration
        return EvaluationRequest(
            policy: Policy(policy) ?? .biometrics,
            reason: reason,
            application: core.services.application,
            cancelTitle: localizedCancelTitle,
            fallbackTitle: localizedFallbackTitle,
            // What is no number is no time.
            reuse: reuse > 0 ? .seconds(min(reuse, longest)) : .zero,
            interactionAllowed: !interactionNotAllowed
        )
    }

    // MARK: - What a program chooses

    /// The text of the fallback button; `nil` means the default, an empty one hides the button.
    open var localizedFallbackTitle: String? {
        get { core[\.fallbackTitle] }
        set { core[\.fallbackTitle] = newValue }
    }

    /// The text of the cancel button; `nil` or empty means the default.
    open var localizedCancelTitle: String? {
        get { core[\.cancelTitle] }
        set { core[\.cancelTitle] = newValue }
    }

    /// The reason for operations that give none of their own, such as the use of a key.
    ///
    /// `evaluatePolicy` does not use it.
    open var localizedReason: String {
        get { core[\.reason] }
        set { core[\.reason] = newValue }
    }

    /// Has no effect, as on Apple's systems.
    open var maxBiometryFailures: NSNumber? {
        get { core[\.maxBiometryFailures].map { NSNumber(value: $0) } }
        set { core[\.maxBiometryFailures] = newValue?.intValue }
    }

    /// For how many seconds after an earlier match no new one is asked for; 0 asks always, more than 300 is 300.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { core[\.reuseDuration] }
        set { core[\.reuseDuration] = newValue }
    }

    /// Whether an evaluation that needs a prompt ends with ``LAError/notInteractive`` instead.
    open var interactionNotAllowed: Bool {
        get { core[\.interactionNotAllowed] }
        set { core[\.interactionNotAllowed] = newValue }
    }

    // MARK: - What it found

    /// What kind of biometry the machine has, at the last `canEvaluatePolicy`; before the first one, now.
    open var biometryType: LABiometryType {
        core[\.biometryType] ?? LABiometryType(core.preflight(Policy.biometrics))
    }

    /// 32 bytes that change with each finger that is added or removed.
    ///
    /// It is `nil` until a finger has matched in an evaluation of this context, or `canEvaluatePolicy` has answered
    /// `true` for a policy that only a finger meets. A failure in between leaves it as it was.
    open var evaluatedPolicyDomainState: Data? { core[\.evaluatedDomainState] }

    /// Which fingers are enrolled now, without any call before; also during a lockout.
    open var domainState: LADomainState {
        let preflight = core.preflight(Policy.biometrics)
        return LADomainState(
            biometry: LADomainStateBiometry(
                biometryType: LABiometryType(preflight),
                stateHash: preflight.domainState
            )
        )
    }
}

extension LAContext: Observable {}
