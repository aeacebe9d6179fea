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
/// The class has the same names and behavior as Apple's. Creating a context is cheap, because the reader and the store
/// are opened only when a call first needs them. The prompt appears in the terminal unless the program sets a presenter
/// (see the module `LocalAuthenticationPrompts`).
///
/// On Linux, the class differs as follows:
///
/// - An enrolled finger can be evaluated even if no passcode is set. Apple's systems return `passcodeNotSet` because
///   biometry depends on the passcode there. On Linux, the passcode is an independent method.
/// - An empty or blank reason fails with ``LAError/invalidContext`` before any prompt. On Apple's systems, it raises an
///   exception. This is the only code that indicates an incorrect call, rather than a problem with the user or the
///   machine.
/// - You can call `canEvaluatePolicy` and read the properties that query the machine from a reply block and from any
///   thread.
/// - Canceling the task of the `async` variant ends the evaluation with ``LAError/appCancel``.
///
/// A context evaluates one policy at a time. Starting a second evaluation while one is in progress fails with
/// ``LAError/systemCancel``, and does not affect the first one.
///
/// The class is `@unchecked Sendable` because the compiler cannot check an open class. All of its state is stored in
/// `core` and protected by the core's `state` lock. A subclass must protect any state that it adds.
open class LAContext: NSObject, ContextHolder, @unchecked Sendable {
    /// The state and operations of this context.
    package let core: ContextCore
    /// The registrar for observers of this context's properties.
    let registrar = ObservationRegistrar()

    /// Creates a context that uses this machine's fingerprint readers and enrolled fingers.
    public override init() {
        let parts = ContextParts.current
        core = ContextCore { parts }
        super.init()
        trackDomainState()
    }

    /// Ends an evaluation in progress with ``LAError/appCancel``.
    deinit { core.invalidate() }

    // MARK: - Queries

    /// Returns whether an evaluation of a policy could succeed now.
    ///
    /// This method never prompts the user and never opens the reader. It blocks the caller while it searches for
    /// readers and reads the store. Do not store the result, because it can change at any time.
    ///
    /// - Parameters:
    ///   - policy: The policy to check.
    ///   - error: On failure, receives an `NSError` in the domain ``LAErrorDomain``. On success, it is set to `nil`.
    /// - Returns: `true` if an evaluation could succeed; otherwise, `false`. For a biometric policy, a successful check
    ///   also sets ``evaluatedPolicyDomainState``.
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

    /// Evaluates a policy, prompting the user if necessary, and returns immediately.
    ///
    /// Keep a reference to the context until the reply block is called, because releasing the context ends the
    /// evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason shown in the prompt. It must not be empty or blank.
    ///   - reply: A block that is called exactly once, on a private queue, with `true` and `nil` on success, or with
    ///     `false` and an ``LAError`` on failure.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(.policy(policy), reason: localizedReason) { $0.tell(reply) }
    }

    /// Evaluates a policy, prompting the user if necessary, and returns when the policy is met.
    ///
    /// Canceling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason shown in the prompt. It must not be empty or blank.
    /// - Returns: Always `true`.
    /// - Throws: An ``LAError`` if the evaluation does not succeed.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        switch await core.evaluate(.policy(policy), reason: localizedReason) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Evaluates an access control, prompting the user if necessary, and returns immediately.
    ///
    /// After the evaluation succeeds, pass the same context as `kSecUseAuthenticationContext` to use the item or the
    /// key without another prompt. Creating an item or a key does not prompt. If the access control requires both a
    /// finger and the passcode, the user is prompted for one after the other. If it requires an application password,
    /// set one with ``setCredential(_:type:)`` first; otherwise, the evaluation fails with
    /// ``LAError/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends to perform.
    ///   - localizedReason: The reason shown in the prompt. It must not be empty or blank.
    ///   - reply: A block that is called exactly once, on a private queue, with `true` and `nil` on success, or with
    ///     `false` and an ``LAError`` on failure.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(operation.demand(accessControl), reason: localizedReason) { $0.tell(reply) }
    }

    /// Evaluates an access control, prompting the user if necessary, and returns when its requirements are met.
    ///
    /// Canceling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends to perform.
    ///   - localizedReason: The reason shown in the prompt. It must not be empty or blank.
    /// - Returns: Always `true`.
    /// - Throws: An ``LAError`` if the evaluation does not succeed.
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

    /// Invalidates the context, and ends an evaluation in progress with ``LAError/appCancel``.
    ///
    /// Later evaluations fail with ``LAError/invalidContext``. You can call this method repeatedly and from any thread.
    /// It does not wait for the evaluation to end.
    open func invalidate() { core.invalidate() }

    // MARK: - Credentials

    /// Sets a credential, which is stored in locked memory until the context is released or invalidated.
    ///
    /// - Parameters:
    ///   - credential: The bytes, or `nil` to remove the current credential. The bytes are copied, and the caller is
    ///     responsible for wiping the original.
    ///   - type: The type of the credential.
    /// - Returns: `true` if the credential was stored or removed; `false` if the context has been invalidated.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        core.setCredential(credential.map(SecretBox.init(copying:)), type.kind)
    }

    /// Returns whether a credential of the given type is set.
    ///
    /// Credentials are not verified before they are used.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { core.hasCredential(type.kind) }

    // MARK: - State of the machine

    /// The kind of biometry that this machine supports: ``LABiometryType/touchID`` if a fingerprint reader is
    /// connected; otherwise, ``LABiometryType/none``.
    ///
    /// Like `canEvaluatePolicy`, this property checks the machine each time you read it, and blocks the caller. You do
    /// not have to call `canEvaluatePolicy` first.
    open var biometryType: LABiometryType { core.preflight().biometryType }

    /// The state of the enrolled fingers at the last biometric success in this context, as 32 opaque bytes.
    ///
    /// The value is `nil` until `canEvaluatePolicy` succeeds for a biometric policy, or an evaluation succeeds with a
    /// finger.
    open var evaluatedPolicyDomainState: Data? {
        registrar.access(self, keyPath: \.evaluatedPolicyDomainState)
        return core.evaluatedDomainState
    }

    /// The current state of the enrolled fingers.
    ///
    /// You do not have to call another method first, and the state is available even during a lockout. Like
    /// `canEvaluatePolicy`, this property checks the machine each time you read it, and blocks the caller.
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
    /// If this is `nil`, the button has the default title. If it is empty, the button is hidden.
    ///
    /// For ``LAPolicy/deviceOwnerAuthentication``, the button is shown only if a passcode is set.
    open var localizedFallbackTitle: String? {
        get { setting(\.localizedFallbackTitle, \.fallbackTitle) }
        set { set(\.localizedFallbackTitle, \.fallbackTitle, newValue) }
    }

    /// The title of the cancel button.
    ///
    /// If this is `nil` or empty, the button has the default title, because it cannot be hidden.
    open var localizedCancelTitle: String? {
        get { setting(\.localizedCancelTitle, \.cancelTitle) }
        set { set(\.localizedCancelTitle, \.cancelTitle, newValue) }
    }

    /// The reason shown in the prompts of operations that do not specify a reason.
    ///
    /// Calls to `evaluatePolicy` always specify one.
    open var localizedReason: String {
        get { setting(\.localizedReason, \.reason) }
        set { set(\.localizedReason, \.reason, newValue) }
    }

    /// The number of seconds for which an earlier match can be reused without another prompt.
    ///
    /// If this is 0, the default, every evaluation prompts.
    ///
    /// Values above ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` are treated as that maximum.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { setting(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration) }
        set { set(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration, newValue) }
    }

    /// Whether prompts are forbidden.
    ///
    /// If this is `true`, an evaluation that requires a prompt fails with ``LAError/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { setting(\.interactionNotAllowed, \.interactionNotAllowed) }
        set { set(\.interactionNotAllowed, \.interactionNotAllowed, newValue) }
    }

    /// The maximum number of failed tries.
    ///
    /// Setting this property has no effect, as on Apple's systems since macOS 10.11.
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
    /// Calls a reply block with the arguments that Apple's API passes.
    fileprivate func tell(_ reply: (Bool, (any Error)?) -> Void) {
        switch self {
        case .success: reply(true, nil)
        case .failure(let error): reply(false, error)
        }
    }
}
