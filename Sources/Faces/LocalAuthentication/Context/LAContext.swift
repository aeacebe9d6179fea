// SPDX-License-Identifier: Apache-2.0

package import WhorlContext
public import KeychainServices
internal import Observation
internal import WhorlSecretMemory
internal import WhorlService

/// A mechanism for authenticating the device owner with a fingerprint or the passcode.
///
///     let context = LAContext()
///     if try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "open the vault") {
///         open()
///     }
///
/// Names and behavior are those of Apple's class. Creating a context is cheap: the first call that needs the reader and
/// the store opens them. The prompt appears in the terminal unless the program sets a presenter (see the module
/// `LocalAuthenticationPrompts`).
///
/// On Linux, it differs as follows:
///
/// - An enrolled finger can be evaluated even if no passcode is set. Apple's systems return `passcodeNotSet` because
///   their biometry depends on the passcode; here the passcode is an independent method.
/// - An empty or blank reason fails with ``LAError/invalidContext`` before any prompt. On Apple's systems, it raises an
///   exception. Only this code means that the call is wrong, rather than the user or the machine.
/// - `canEvaluatePolicy` and the properties that query the machine may be called from a reply and from any thread.
/// - Canceling the task of the `async` variant ends the evaluation with ``LAError/appCancel``.
///
/// A context evaluates one policy at a time. Starting a second evaluation while one is running fails with
/// ``LAError/systemCancel`` and does not affect the first one.
///
/// It is `@unchecked Sendable` because the compiler cannot check an open class. All of its state is in its core,
/// protected by the core's lock `state`. A subclass must protect the state that it adds.
open class LAContext: NSObject, ContextHolder, @unchecked Sendable {
    /// The state and operations of this context.
    package let core: ContextCore
    /// The registrar of the observers of this context's properties.
    let registrar = ObservationRegistrar()

    /// Creates a context for the readers and the enrolled fingers of this machine.
    public override init() {
        let parts = ContextParts.current
        core = ContextCore { parts }
        super.init()
        trackDomainState()
    }

    /// Releasing a context ends its evaluation with ``LAError/appCancel``.
    deinit { core.invalidate() }

    // MARK: - Queries

    /// Returns whether an evaluation could succeed now.
    ///
    /// It never prompts and never opens the reader. It blocks the caller while it searches for readers and reads the
    /// store. Do not store the result, because it can change at any time.
    ///
    /// - Parameters:
    ///   - policy: The policy to check.
    ///   - error: A pointer that receives an `NSError` of ``LAErrorDomain``. It is set to `nil` if the result is
    ///     `true`.
    /// - Returns: Whether an evaluation could succeed. A success for a biometric policy also sets
    ///   ``evaluatedPolicyDomainState``.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(LAError) {
            try core.check(policy)
            error?.pointee = nil
            return true
        } catch let failure {
            error?.pointee = failure._nsError
            return false
        }
    }

    /// Evaluates a policy, which prompts the user, and returns immediately.
    ///
    /// Keep the context until the reply: releasing it ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue, with `true` and `nil` or with `false` and an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(.policy(policy), reason: localizedReason) { $0.tell(reply) }
    }

    /// Evaluates a policy, which prompts the user, and returns when the policy is met.
    ///
    /// Canceling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    /// - Returns: Always `true`.
    /// - Throws: ``LAError`` for every outcome other than success.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        switch await core.evaluate(.policy(policy), reason: localizedReason) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Evaluates an access control, which prompts the user, and returns immediately.
    ///
    /// After a success, pass the same context as `kSecUseAuthenticationContext` to use the item or the key without
    /// another prompt. Creating an item or a key does not prompt. An access control that requires a finger and the
    /// passcode prompts for one after the other. If it requires an application password, set one with
    /// ``setCredential(_:type:)`` first; otherwise, the evaluation fails with ``LAError/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue, with `true` and `nil` or with `false` and an ``LAError``.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(operation.demand(accessControl), reason: localizedReason) { $0.tell(reply) }
    }

    /// Evaluates an access control, which prompts the user, and returns when its requirements are met.
    ///
    /// Canceling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    /// - Returns: Always `true`.
    /// - Throws: ``LAError`` for every outcome other than success.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String
    ) async throws -> Bool {
        switch await core.evaluate(operation.demand(accessControl), reason: localizedReason) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Ends the running evaluation with ``LAError/appCancel``.
    ///
    /// Later evaluations fail with ``LAError/invalidContext``. It may be called repeatedly and from any thread, and
    /// does not wait.
    open func invalidate() { core.invalidate() }

    // MARK: - Credentials

    /// Stores a credential of the program in locked memory until the context is released or invalidated.
    ///
    /// - Parameters:
    ///   - credential: The bytes, or `nil` to remove the current credential. They are copied; the caller is responsible
    ///     for wiping its own copy.
    ///   - type: The type of the credential.
    /// - Returns: `true` if the credential was stored or removed; `false` if the context is invalidated.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        core.setCredential(credential.map(SecretBox.init(copying:)), type.kind)
    }

    /// Returns whether a credential of this type is set.
    ///
    /// Credentials are not verified before they are used.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { core.hasCredential(type.kind) }

    // MARK: - State of the machine

    /// The kind of biometry: ``LABiometryType/touchID`` if a fingerprint reader is connected, otherwise
    /// ``LABiometryType/none``.
    ///
    /// Like `canEvaluatePolicy`, it checks the machine on every call and blocks the caller. It does not require an
    /// earlier call.
    open var biometryType: LABiometryType { core.preflight().biometryType }

    /// The set of enrolled fingers, as 32 opaque bytes, at the last biometric success of this context.
    ///
    /// It is `nil` until `canEvaluatePolicy` succeeds for a biometric policy, or an evaluation succeeds with a finger.
    open var evaluatedPolicyDomainState: Data? {
        registrar.access(self, keyPath: \.evaluatedPolicyDomainState)
        return core.evaluatedDomainState
    }

    /// The current state of the enrolled fingers.
    ///
    /// It does not require an earlier call, and is also available during a lockout. Like `canEvaluatePolicy`, it checks
    /// the machine on every call and blocks the caller.
    open var domainState: LADomainState {
        let preflight = core.preflight()
        return LADomainState(
            biometry: LADomainStateBiometry(
                biometryType: preflight.biometryType,
                stateHash: preflight.domainState
            )
        )
    }

    // MARK: - Settings

    /// The title of the fallback button.
    ///
    /// `nil` means the default; an empty title hides the button.
    ///
    /// For ``LAPolicy/deviceOwnerAuthentication``, the button is shown only if a passcode is set.
    open var localizedFallbackTitle: String? {
        get { setting(\.localizedFallbackTitle, \.fallbackTitle) }
        set { set(\.localizedFallbackTitle, \.fallbackTitle, newValue) }
    }

    /// The title of the cancel button.
    ///
    /// `nil` or empty means the default, because the button cannot be hidden.
    open var localizedCancelTitle: String? {
        get { setting(\.localizedCancelTitle, \.cancelTitle) }
        set { set(\.localizedCancelTitle, \.cancelTitle, newValue) }
    }

    /// The reason for operations without a reason.
    ///
    /// `evaluatePolicy` always has one.
    open var localizedReason: String {
        get { setting(\.localizedReason, \.reason) }
        set { set(\.localizedReason, \.reason, newValue) }
    }

    /// The number of seconds for which an earlier match is reused instead of prompting.
    ///
    /// The default, 0, always prompts.
    ///
    /// Values above ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` are treated as that maximum.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { setting(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration) }
        set { set(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration, newValue) }
    }

    /// Whether prompts are forbidden.
    ///
    /// An evaluation that requires one then fails with ``LAError/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { setting(\.interactionNotAllowed, \.interactionNotAllowed) }
        set { set(\.interactionNotAllowed, \.interactionNotAllowed, newValue) }
    }

    /// The number of tries.
    ///
    /// Setting it has no effect, as on Apple's systems since macOS 10.11.
    ///
    /// Every evaluation allows three tries.
    open var maxBiometryFailures: NSNumber? {
        get { core.settings.maxBiometryFailures.map(NSNumber.init(value:)) }
        set { core.change { $0.maxBiometryFailures = newValue?.intValue } }
    }
}

extension Preflight {
    fileprivate var biometryType: LABiometryType { hasReader ? .touchID : .none }
}

extension ContextCore.Outcome {
    /// Calls a reply with Apple's argument types.
    fileprivate func tell(_ reply: (Bool, (any Error)?) -> Void) {
        switch self {
        case .success: reply(true, nil)
        case .failure(let error): reply(false, error)
        }
    }
}
