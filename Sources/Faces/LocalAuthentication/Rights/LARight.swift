// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices
public import Observation
internal import Synchronization

/// A right in a program that the owner of the device has to authorize.
///
/// A right holds no data: it remembers that the owner was recognized, until ``deauthorize()`` or the object's end.
///
/// On Apple's systems its state is observed with KVO and Combine, which Linux does not have; here
/// `withObservationTracking` observes it.
///
/// It is `@unchecked Sendable` since the compiler cannot check an open class: its own state is behind a lock.
open class LARight: NSObject, Observable, @unchecked Sendable {
    /// The authorization state of a right.
    public enum State: Int, Sendable, Hashable {
        /// The owner was not asked yet.
        case unknown = 0
        /// The owner is being asked.
        case authorizing = 1
        /// The owner was recognized.
        case authorized = 2
        /// The owner was not recognized, or the authorization was revoked.
        case notAuthorized = 3
    }

    private struct Progress {
        var state = State.unknown
        var tag = 0
        /// The context that prompts; it holds what was shown.
        var context: LAContext?
    }

    /// The requirement that the owner must meet.
    let requirement: LAAuthenticationRequirement
    private let progress = Mutex(Progress())
    private let registrar = ObservationRegistrar()

    /// Makes a right that a finger or the passcode grants.
    public override init() {
        requirement = .default
        super.init()
    }

    /// Makes a right that is granted when `requirement` is met.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// The authorization state.
    open var state: State {
        registrar.access(self, keyPath: \.state)
        return progress.withLock(\.state)
    }

    /// A number that the program can use; 0 at first.
    open var tag: Int {
        get { progress.withLock(\.tag) }
        set { progress.withLock { $0.tag = newValue } }
    }

    /// Prompts the owner, even if the right is already authorized.
    ///
    /// - Parameter localizedReason: The reason that the prompt shows; it must not be empty or blank.
    /// - Throws: ``LAError``; `systemCancel` while another call prompts.
    open func authorize(localizedReason: String) async throws {
        let context = try begin()
        do {
            try await checkExistence()
            try await context.evaluateAccessControl(
                requirement.accessControl(),
                operation: .useItem,
                localizedReason: localizedReason
            )
            // The context opens the items of the right with what the owner has shown; only `authorize` prompts for
            // more.
            context.interactionNotAllowed = true
            end(context, .authorized)
        } catch {
            end(context, .notAuthorized)
            throw isCurrent(context) ? error : LAError(.appCancel)
        }
        // If the right was deauthorized during the prompt, the result does not count.
        guard isCurrent(context) else { throw LAError(.appCancel) }
    }

    /// The same with a completion, which is called once, on a private thread.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightQueue.startTask(
            { try await self.authorize(localizedReason: localizedReason) },
            completion: completion
        )
    }

    /// Checks that the owner could be recognized now, without a prompt.
    ///
    /// - Throws: ``LAError`` with the reason if not.
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

    /// The same with a completion, which is called once, on a private thread.
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightQueue.startTask({ try await self.checkCanAuthorize() }, completion: completion)
    }

    /// Revokes the authorization: the next use needs a new one, and a prompt that is shown for it ends.
    open func deauthorize() async { giveBack() }

    /// The same with a completion, which is called once, on a private thread.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        giveBack()
        RightQueue.start({}, completion: { _ in completion() })
    }

    // MARK: - State

    /// Checks that the saved items of the right still exist; a right that is not saved has none.
    func checkExistence() async throws {}

    /// The context in which the owner was recognized; `nil` unless the right is authorized.
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

    /// Whether the authorization of `context` was not revoked since.
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

/// The requirement that the owner must meet before a right is granted.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The flags of an access control with this requirement.
    let flags: SecAccessControlCreateFlags

    private init(_ flags: SecAccessControlCreateFlags) {
        self.flags = flags
        super.init()
    }

    /// A finger or the passcode.
    public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }
    /// Any enrolled finger.
    public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }
    /// A finger of the current set.
    ///
    /// A right that is not saved is evaluated once and remembers no set: for it this is the same as ``biometry``.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.biometryCurrentSet)
    }

    /// Any enrolled finger, or a fallback if a finger is unavailable or not wanted.
    ///
    /// Both fallbacks are the passcode on Linux, so this is the same as ``default``.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(.userPresence)
    }

    /// Whether the other object is the same requirement.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.flags == flags
    }

    /// The hash of the requirement.
    public override var hash: Int { flags.hashValue }

    /// Whether only a finger meets this requirement.
    var needsFinger: Bool { !flags.contains(.userPresence) }

    /// Makes the requirement of a stored access control; `nil` for one that does not belong to a right.
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
        else { preconditionFailure("each requirement has an access control") }
        return access
    }
}

/// A fallback for a finger.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    private override init() { super.init() }

    /// The machine's default fallback: the passcode.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
