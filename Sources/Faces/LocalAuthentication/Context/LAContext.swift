// SPDX-License-Identifier: Apache-2.0

package import WhorlContext
public import KeychainServices
internal import Observation
internal import WhorlSecretMemory
internal import WhorlService

/// A mechanism for authenticating the owner of the device with a finger or the passcode.
///
///     let context = LAContext()
///     if try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "open the vault") {
///         open()
///     }
///
/// It has the names and the behavior of Apple's class. Creating a context opens nothing: the reader and the store are
/// opened on the first call that needs them. The prompt appears in the terminal, unless the program has its own
/// (the module `LocalAuthenticationPrompts`).
///
/// Where Linux differs:
///
/// - Without a passcode an enrolled finger can still be evaluated, where Apple's systems return `passcodeNotSet`.
///   There, all biometry depends on the passcode; here the passcode is an independent method.
/// - An empty or blank reason, which raises an exception on Apple's systems, is an error before any prompt:
///   ``LAError/invalidContext``, since only that code says that the call is wrong, rather than the person or the
///   machine.
/// - `canEvaluatePolicy` and the properties that ask the machine may be called from a reply, and from any thread.
/// - Cancelling the task of the async form ends the evaluation with ``LAError/appCancel``.
///
/// A context evaluates one policy at a time: a second evaluation that begins before the first one has ended fails with
/// ``LAError/systemCancel`` and leaves the first one alone.
///
/// It is `@unchecked Sendable` since the compiler cannot check an open class: all of its own state is in its core,
/// behind the core's lock `state`. A subclass is responsible for the state that it adds.
open class LAContext: NSObject, ContextHolder, @unchecked Sendable {
    /// The state of this context and the work on it.
    package let core: ContextCore
    /// The registrar of the observers of this context's properties.
    let registrar = ObservationRegistrar()

    /// Makes a context for the readers and the enrolled fingers of this machine.
    public override init() {
        let parts = ContextParts.current
        core = ContextCore { parts }
        super.init()
        trackDomainState()
    }

    /// Releasing a context ends its evaluation with ``LAError/appCancel``.
    deinit { core.invalidate() }

    // MARK: - Questions

    /// Whether an evaluation could succeed now.
    ///
    /// It never prompts and never opens the reader. It blocks the caller while it looks for readers and reads the
    /// store. The result can change at any time; do not store it.
    ///
    /// - Parameters:
    ///   - policy: The policy to check.
    ///   - error: A pointer that receives an `NSError` of ``LAErrorDomain``; it is set to `nil` if the result is
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

    /// Prompts the person for a policy, and returns at once.
    ///
    /// The context must live until the reply: releasing it ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue: with `true` and `nil`, or with `false` and an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(.policy(policy), reason: localizedReason) { $0.tell(reply) }
    }

    /// Prompts the person for a policy, and returns when the policy is met.
    ///
    /// Cancelling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy to evaluate.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    /// - Returns: Always `true`; every other outcome is an error.
    /// - Throws: ``LAError``, for every outcome other than a success.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        switch await core.evaluate(.policy(policy), reason: localizedReason) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Prompts the person for the requirements of an access control, and returns at once.
    ///
    /// After a success the same context, given as `kSecUseAuthenticationContext`, uses the item or the key without
    /// another prompt. Making an item or a key needs no prompt. An access control that requires a finger and the
    /// passcode prompts for one after the other. If it requires an application password, the context must have one
    /// (``setCredential(_:type:)``); otherwise it fails with ``LAError/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue: with `true` and `nil`, or with `false` and an ``LAError``.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(operation.demand(accessControl), reason: localizedReason) { $0.tell(reply) }
    }

    /// Prompts the person for the requirements of an access control, and returns when they are met.
    ///
    /// Cancelling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - accessControl: The access control to evaluate.
    ///   - operation: The operation that the program intends.
    ///   - localizedReason: The reason that the prompt shows. It must not be empty or blank.
    /// - Returns: Always `true`; every other outcome is an error.
    /// - Throws: ``LAError``, for every outcome other than a success.
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

    /// Ends the running evaluation with ``LAError/appCancel``; each later one fails with ``LAError/invalidContext``.
    ///
    /// It may be called any number of times and from any thread, and does not wait.
    open func invalidate() { core.invalidate() }

    // MARK: - Credentials

    /// Keeps a credential of the program in locked memory until the context ends or is invalidated.
    ///
    /// - Parameters:
    ///   - credential: The bytes; `nil` forgets the current credential. They are copied: the caller is responsible for
    ///     wiping its own copy.
    ///   - type: The type of the credential.
    /// - Returns: Whether it was done; an invalidated context keeps no credential and returns `false`.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        core.setCredential(credential.map(SecretBox.init(copying:)), type.kind)
    }

    /// Whether ``setCredential(_:type:)`` has kept a credential of a type; it is checked only when it is used.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { core.hasCredential(type.kind) }

    // MARK: - What the machine is like

    /// The kind of biometry: ``LABiometryType/touchID`` while a fingerprint reader is connected, else
    /// ``LABiometryType/none``.
    ///
    /// It checks the machine on every call, also without an earlier `canEvaluatePolicy`, and blocks the caller as that
    /// does.
    open var biometryType: LABiometryType { core.preflight().biometryType }

    /// The set of enrolled fingers as 32 opaque bytes, as the last biometric success of this context saw it.
    ///
    /// It is `nil` before a successful `canEvaluatePolicy` for a biometric policy or an evaluation that a finger met.
    open var evaluatedPolicyDomainState: Data? {
        registrar.access(self, keyPath: \.evaluatedPolicyDomainState)
        return core.evaluatedDomainState
    }

    /// The current state of the enrolled fingers.
    ///
    /// It needs no earlier call and is also available during a lockout. It checks the machine on every call, and blocks
    /// the caller as `canEvaluatePolicy` does.
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

    /// The text of the fallback button; `nil` means the default, empty hides it.
    ///
    /// Under ``LAPolicy/deviceOwnerAuthentication`` the button is shown only if a passcode is set.
    open var localizedFallbackTitle: String? {
        get { setting(\.localizedFallbackTitle, \.fallbackTitle) }
        set { set(\.localizedFallbackTitle, \.fallbackTitle, newValue) }
    }

    /// The text of the cancel button; `nil` or empty means the default, since cancelling cannot be hidden.
    open var localizedCancelTitle: String? {
        get { setting(\.localizedCancelTitle, \.cancelTitle) }
        set { set(\.localizedCancelTitle, \.cancelTitle, newValue) }
    }

    /// The reason for operations that have no reason of their own; `evaluatePolicy` always has one.
    open var localizedReason: String {
        get { setting(\.localizedReason, \.reason) }
        set { set(\.localizedReason, \.reason, newValue) }
    }

    /// The number of seconds for which an earlier match is reused instead of a prompt; 0, the default, always prompts.
    ///
    /// A value above ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` counts as that maximum.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { setting(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration) }
        set { set(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration, newValue) }
    }

    /// Whether a prompt is forbidden: an evaluation that would need one fails with ``LAError/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { setting(\.interactionNotAllowed, \.interactionNotAllowed) }
        set { set(\.interactionNotAllowed, \.interactionNotAllowed, newValue) }
    }

    /// The number of tries that was set; it has no effect, as on Apple's systems since macOS 10.11.
    ///
    /// Every evaluation has three tries.
    open var maxBiometryFailures: NSNumber? {
        get { core.settings.maxBiometryFailures.map(NSNumber.init(value:)) }
        set { core.change { $0.maxBiometryFailures = newValue?.intValue } }
    }
}

extension Preflight {
    fileprivate var biometryType: LABiometryType { hasReader ? .touchID : .none }
}

extension ContextCore.Outcome {
    /// Calls a reply in the form that Apple's systems use.
    fileprivate func tell(_ reply: (Bool, (any Error)?) -> Void) {
        switch self {
        case .success: reply(true, nil)
        case .failure(let error): reply(false, error)
        }
    }
}
