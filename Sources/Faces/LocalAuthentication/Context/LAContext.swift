// SPDX-License-Identifier: Apache-2.0

package import Authentication
package import AuthenticationContext
public import Keychain
internal import Observation
internal import SecretMemory

/// Asks whether the owner of the device is there.
///
///     let context = LAContext()
///     if try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "open the vault") {
///         open()
///     }
///
/// It has the names and the behaviour of Apple's class. Making one opens nothing: the reader and the store are looked
/// for at the first question. The prompt is the terminal's, unless ``promptPresenter`` is set.
///
/// Where Linux differs:
///
/// - Without a passcode an enrolled finger still evaluates, where Apple's systems say `passcodeNotSet`. There, all
///   biometry rests on the passcode; here the passcode is one more way in.
/// - An empty or blank reason, which raises an exception on Apple's systems, is an error before any prompt:
///   ``LAError/invalidContext``, since that code alone says that the call is wrong, and not the person or the machine.
/// - `canEvaluatePolicy` and the properties that ask the machine may be called from a reply, and from any thread.
/// - Cancelling the task of the async form ends the evaluation with ``LAError/appCancel``.
///
/// A context evaluates one policy at a time: a second evaluation that begins before the first one has ended fails with
/// ``LAError/systemCancel`` and leaves the first one alone.
///
/// It is `@unchecked Sendable` since a class that others may subclass cannot be checked: all of its own state is in its
/// core, behind the core's lock `state`. A subclass answers for the state that it adds.
open class LAContext: NSObject, ContextHolder, @unchecked Sendable {
    /// The state of this context, and the work on it.
    package let core: ContextCore
    /// Who tracks which property.
    let registrar = ObservationRegistrar()

    /// A context for the readers and the enrolled fingers of this machine.
    public override init() {
        let parts = ContextParts.current
        core = ContextCore { parts }
        super.init()
        trackDomainState()
    }

    /// A context for a service and a prompt of the caller's choice.
    package init(
        service: any AuthenticationService,
        presenter: any PromptPresenter,
        application: ApplicationID
    ) {
        let parts = ContextParts(
            service: service,
            presenter: presenter,
            application: application,
            state: .none
        )
        core = ContextCore { parts }
        super.init()
        trackDomainState()
    }

    /// What the program set; for the parts of this class that lie in other files.
    var settings: ContextSettings { core.settings }

    /// Changes what the program sets.
    func change(_ body: (inout ContextSettings) -> Void) { core.change(body) }

    /// Letting go of a context ends its evaluation with ``LAError/appCancel``.
    deinit { core.invalidate() }

    // MARK: - Questions

    /// Whether an evaluation could succeed now.
    ///
    /// It never prompts and never opens the reader. It blocks the caller for as long as it takes to look for readers
    /// and to read the store. The answer is for now, and not to be kept.
    ///
    /// - Parameters:
    ///   - policy: What would have to be shown.
    ///   - error: Where to leave an `NSError` of ``LAErrorDomain``; set to `nil` when the answer is `true`.
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

    /// Asks the person, and returns at once.
    ///
    /// The context must live until the reply: letting go of it ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: What must be shown.
    ///   - localizedReason: Why the program asks; the prompt shows it. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue: with `true` and `nil`, or with `false` and an ``LAError``.
    open func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(.policy(policy), reason: localizedReason) { $0.tell(reply) }
    }

    /// Asks the person, and returns when the policy is met.
    ///
    /// Cancelling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - policy: What must be shown.
    ///   - localizedReason: Why the program asks; the prompt shows it. It must not be empty or blank.
    /// - Returns: `true`, and never anything else.
    /// - Throws: ``LAError``, for everything that is not a success.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        switch await core.evaluate(.policy(policy), reason: localizedReason) {
        case .success: return true
        case .failure(let error): throw error
        }
    }

    /// Asks the person for what an access control wants, and returns at once.
    ///
    /// After a success the same context, given as `kSecUseAuthenticationContext`, uses the item or the key without another
    /// prompt. Making an item or a key asks nobody. An access control that wants a finger and the passcode asks for one
    /// after the other. Where it takes an application password, the context must have one
    /// (``setCredential(_:type:)``); otherwise it fails with ``LAError/authenticationFailed``.
    ///
    /// - Parameters:
    ///   - accessControl: What must be shown.
    ///   - operation: What it is for.
    ///   - localizedReason: Why the program asks; the prompt shows it. It must not be empty or blank.
    ///   - reply: Called exactly once, on a private queue: with `true` and `nil`, or with `false` and an ``LAError``.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl,
        operation: LAAccessControlOperation,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        core.evaluate(operation.demand(accessControl), reason: localizedReason) { $0.tell(reply) }
    }

    /// Asks the person for what an access control wants, and returns when it is met.
    ///
    /// Cancelling the task ends the evaluation.
    ///
    /// - Parameters:
    ///   - accessControl: What must be shown.
    ///   - operation: What it is for.
    ///   - localizedReason: Why the program asks; the prompt shows it. It must not be empty or blank.
    /// - Returns: `true`, and never anything else.
    /// - Throws: ``LAError``, for everything that is not a success.
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

    /// Ends the evaluation that goes on with ``LAError/appCancel``; each later one fails with
    /// ``LAError/invalidContext``.
    ///
    /// It may be called any number of times, from any thread, and does not wait.
    open func invalidate() { core.invalidate() }

    // MARK: - Credentials

    /// Keeps what the program shows for itself, in locked memory, until the context ends or is invalidated.
    ///
    /// - Parameters:
    ///   - credential: The bytes; `nil` forgets the one that is there. They are copied: wiping the caller's own is the
    ///     caller's care.
    ///   - type: What it is.
    /// - Returns: Whether it was done; an invalidated context keeps nothing and answers `false`.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        core.setCredential(credential.map(SecretBox.init(copying:)), type.kind)
    }

    /// Whether ``setCredential(_:type:)`` has kept one; whether it is the right one shows when it is used.
    @discardableResult
    open func isCredentialSet(_ type: LACredentialType) -> Bool { core.hasCredential(type.kind) }

    // MARK: - What the machine is like

    /// ``LABiometryType/touchID`` whenever a fingerprint reader is connected, else ``LABiometryType/none``.
    ///
    /// It looks anew each time, also without an earlier `canEvaluatePolicy`; it blocks the caller as that does.
    open var biometryType: LABiometryType { core.preflight().biometryType }

    /// The set of enrolled fingers as 32 opaque bytes, as the last biometric success of this context saw it.
    ///
    /// `nil` before a successful `canEvaluatePolicy` for a biometric policy or an evaluation that a finger met.
    open var evaluatedPolicyDomainState: Data? {
        registrar.access(self, keyPath: \.evaluatedPolicyDomainState)
        return core.evaluatedDomainState
    }

    /// Which fingers are enrolled now.
    ///
    /// It needs no earlier call and is there under lockout too. It looks anew each time, and blocks the caller as
    /// `canEvaluatePolicy` does.
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
    /// Under ``LAPolicy/deviceOwnerAuthentication`` there is a button only where a passcode is set.
    open var localizedFallbackTitle: String? {
        get { setting(\.localizedFallbackTitle, \.fallbackTitle) }
        set { set(\.localizedFallbackTitle, \.fallbackTitle, newValue) }
    }

    /// The text of the cancel button; `nil` or empty means the default, since cancelling cannot be hidden.
    open var localizedCancelTitle: String? {
        get { setting(\.localizedCancelTitle, \.cancelTitle) }
        set { set(\.localizedCancelTitle, \.cancelTitle, newValue) }
    }

    /// The reason for operations that are given none of their own; `evaluatePolicy` always is.
    open var localizedReason: String {
        get { setting(\.localizedReason, \.reason) }
        set { set(\.localizedReason, \.reason, newValue) }
    }

    /// For how many seconds after an earlier match no new one is asked for; 0, the default, asks always.
    ///
    /// More than ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` counts as that.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { setting(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration) }
        set { set(\.touchIDAuthenticationAllowableReuseDuration, \.reuseDuration, newValue) }
    }

    /// Whether a prompt is forbidden: an evaluation that would need one fails with ``LAError/notInteractive``.
    open var interactionNotAllowed: Bool {
        get { setting(\.interactionNotAllowed, \.interactionNotAllowed) }
        set { set(\.interactionNotAllowed, \.interactionNotAllowed, newValue) }
    }

    /// Does nothing, as on Apple's systems since macOS 10.11: three tries are all that an evaluation has.
    ///
    /// It gives back the number that was set.
    open var maxBiometryFailures: NSNumber? {
        get { core.settings.maxBiometryFailures.map(NSNumber.init(value:)) }
        set { core.change { $0.maxBiometryFailures = newValue?.intValue } }
    }
}

extension Preflight {
    fileprivate var biometryType: LABiometryType { hasReader ? .touchID : .none }
}

extension ContextCore.Outcome {
    /// Replies as Apple's systems do.
    fileprivate func tell(_ reply: (Bool, (any Error)?) -> Void) {
        switch self {
        case .success: reply(true, nil)
        case .failure(let error): reply(false, error)
        }
    }
}
