// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices
public import Observation
internal import Synchronization

/// A right within a program that the device owner must authorize.
///
/// A right does not contain any data. It only records that the owner was recognized, until ``deauthorize()`` is called
/// or the object is released.
///
/// On Apple's systems, programs observe its state with KVO and Combine, which are not available on Linux. Use
/// `withObservationTracking` instead.
///
/// The class is `@unchecked Sendable` because the compiler cannot check an open class. Its state is protected by a
/// lock.
open class LARight: NSObject, Observable, @unchecked Sendable {
    /// The authorization state of a right.
    public enum State: Int, Sendable, Hashable {
        /// The owner has not been prompted yet.
        case unknown = 0
        /// The owner is being prompted.
        case authorizing = 1
        /// The owner was recognized.
        case authorized = 2
        /// The owner was not recognized, or the authorization was revoked.
        case notAuthorized = 3
    }

    private struct Progress {
        var state = State.unknown
        var tag = 0
        /// The context that prompts the owner.
        ///
        /// After a success, the context contains the owner's authentication.
        var context: LAContext?
    }

    /// The requirement that the owner must meet.
    let requirement: LAAuthenticationRequirement
    private let progress = Mutex(Progress())
    private let registrar = ObservationRegistrar()

    /// Creates a right that requires a fingerprint or the passcode.
    public override init() {
        requirement = .default
        super.init()
    }

    /// Creates a right with a requirement.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// The authorization state.
    open var state: State {
        registrar.access(self, keyPath: \.state)
        return progress.withLock(\.state)
    }

    /// A number that the program can use to identify the right; 0 by default.
    open var tag: Int {
        get { progress.withLock(\.tag) }
        set { progress.withLock { $0.tag = newValue } }
    }

    /// Prompts the owner, even if the right is already authorized.
    ///
    /// - Parameter localizedReason: The reason shown in the prompt. It must not be empty or blank.
    /// - Throws: An ``LAError`` if the owner was not recognized; `systemCancel` if another call is already prompting.
    open func authorize(localizedReason: String) async throws {
        let context = try begin()
        do {
            try await checkExistence()
            try await context.evaluateAccessControl(
                requirement.accessControl(),
                operation: .useItem,
                localizedReason: localizedReason
            )
            // The context opens the items of the right with this authentication. Only `authorize` prompts for more.
            context.interactionNotAllowed = true
            end(context, .authorized)
        } catch {
            end(context, .notAuthorized)
            throw isCurrent(context) ? error : LAError(.appCancel)
        }
        // If the right was deauthorized during the prompt, the result does not count.
        guard isCurrent(context) else { throw LAError(.appCancel) }
    }

    /// Prompts the owner, and calls the completion handler once, on a private thread.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightQueue.startTask(
            { try await self.authorize(localizedReason: localizedReason) },
            completion: completion
        )
    }

    /// Checks whether the owner could be authenticated now, without prompting.
    ///
    /// - Throws: An ``LAError`` that states why the owner could not be authenticated.
    open func checkCanAuthorize() async throws {
        try await checkExistence()
        let policy: LAPolicy =
            requirement.needsFinger ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
        try await RightQueue.run {
            var error: NSError?
            guard !LAContext().canEvaluatePolicy(policy, error: &error) else { return }
            throw error.map(LAError.init(_nsError:)) ?? LAError(.biometryNotAvailable)
        }
    }

    /// Checks whether the owner could be authenticated now, and calls the completion handler once, on a private thread.
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightQueue.startTask({ try await self.checkCanAuthorize() }, completion: completion)
    }

    /// Revokes the authorization.
    ///
    /// The next use requires a new authorization. If a prompt is still shown, it ends.
    open func deauthorize() async { giveBack() }

    /// Revokes the authorization, and calls the completion handler once, on a private thread.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        giveBack()
        RightQueue.start({}, completion: { _ in completion() })
    }

    // MARK: - State

    /// Checks that the saved items of the right still exist.
    ///
    /// A right that is not saved has no items.
    func checkExistence() async throws {}

    /// The context in which the owner was recognized, or `nil` if the right is not authorized.
    var openContext: LAContext? { progress.withLock { $0.state == .authorized ? $0.context : nil } }

    private func begin() throws -> LAContext {
        let context = LAContext()
        let isFree = change { progress in
            guard progress.state != .authorizing else { return false }
            progress.context?.invalidate()
            progress.context = context
            progress.state = .authorizing
            return true
        }
        guard isFree else { throw LAError(.systemCancel) }
        return context
    }

    private func end(_ context: LAContext, _ state: State) {
        change { progress in
            if progress.context === context { progress.state = state }
        }
    }

    /// Returns whether the authorization of `context` is still valid.
    private func isCurrent(_ context: LAContext) -> Bool { progress.withLock { $0.context === context } }

    private func giveBack() {
        let context = change { progress in
            defer { progress.context = nil }
            progress.state = .notAuthorized
            return progress.context
        }
        context?.invalidate()
    }

    private func change<Value: Sendable>(_ body: (inout Progress) -> Value) -> Value {
        registrar.withMutation(of: self, keyPath: \.state) { progress.withLock { body(&$0) } }
    }
}

/// The requirement that the owner must meet to authorize a right.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The flags of an access control with this requirement.
    let flags: SecAccessControlCreateFlags

    private init(_ flags: SecAccessControlCreateFlags) {
        self.flags = flags
        super.init()
    }

    /// A fingerprint or the passcode.
    public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }
    /// Any enrolled finger.
    public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }
    /// A finger that is enrolled when the right is saved.
    ///
    /// For a right that is not saved, this is equivalent to ``biometry``, because such a right is evaluated once and
    /// does not record a set of fingers.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.biometryCurrentSet)
    }

    /// Any enrolled finger, or a fallback if fingers are unavailable or the user prefers the fallback.
    ///
    /// On Linux, both fallbacks are the passcode, so this is equivalent to ``default``.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(.userPresence)
    }

    /// Returns whether the other object is the same requirement.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.flags == flags
    }

    /// The hash of the requirement.
    public override var hash: Int { flags.hashValue }

    /// Whether only a finger can meet this requirement.
    var needsFinger: Bool { !flags.contains(.userPresence) }

    /// Creates the requirement from a stored access control, or returns `nil` if the access control does not belong to
    /// a right.
    init?(stored access: SecAccessControl) {
        let flags = access.flags.subtracting(.privateKeyUsage)
        guard [.userPresence, .biometryAny, .biometryCurrentSet].contains(flags) else { return nil }
        self.flags = flags
        super.init()
    }

    /// Returns the access control for an item with this requirement.
    func accessControl(_ usage: SecAccessControlCreateFlags = []) -> SecAccessControl {
        guard
            let access = SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                flags.union(usage),
                nil
            )
        else {
            // The flags come from the requirement's cases alone, not from a caller or a file.
            preconditionFailure("every requirement must have a valid access control")
        }
        return access
    }
}

/// A fallback for biometric authentication.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    private override init() { super.init() }

    /// The machine's default fallback: the passcode.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
