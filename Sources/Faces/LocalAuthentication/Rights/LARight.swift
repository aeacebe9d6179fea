// SPDX-License-Identifier: Apache-2.0

internal import Keychain
public import Observation
internal import Synchronization

/// Something in a program that its owner has to be recognised for.
///
/// A right holds nothing: it remembers that the owner was recognised, until ``deauthorize()`` or the object's end.
///
/// On Apple's systems its state is observed with KVO and Combine, which Linux has not; here `withObservationTracking` sees it.
///
/// It is `@unchecked Sendable` since a class that others may subclass cannot be checked: its own state is behind a lock.
open class LARight: NSObject, Observable, @unchecked Sendable {
    /// How a right stands.
    public enum State: Int, Sendable, Hashable {
        /// Nobody was asked yet.
        case unknown = 0
        /// The owner is being asked.
        case authorizing = 1
        /// The owner was recognised.
        case authorized = 2
        /// The owner was not recognised, or the right was given back.
        case notAuthorized = 3
    }

    private struct Standing {
        var state = State.unknown
        var tag = 0
        /// What asks; it holds what was shown.
        var context: LAContext?
    }

    /// What is asked of the owner.
    let requirement: LAAuthenticationRequirement
    private let standing = Mutex(Standing())
    private let registrar = ObservationRegistrar()

    /// A right that a finger or the passcode grants.
    public override init() {
        requirement = .default
        super.init()
    }

    /// A right that is granted as `requirement` says.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// How it stands.
    open var state: State {
        registrar.access(self, keyPath: \.state)
        return standing.withLock(\.state)
    }

    /// A number of the program's own; 0 at first.
    open var tag: Int {
        get { standing.withLock(\.tag) }
        set { standing.withLock { $0.tag = newValue } }
    }

    /// Asks the owner, also where the right is authorized already.
    ///
    /// - Parameter localizedReason: Why; it must not be empty or blank.
    /// - Throws: ``LAError``; `systemCancel` while another call asks.
    open func authorize(localizedReason: String) async throws {
        let context = try begin()
        do {
            try await checkExistence()
            try await context.evaluateAccessControl(
                requirement.accessControl(),
                operation: .useItem,
                localizedReason: localizedReason
            )
            // What the owner has shown opens what is kept for the right; nothing but `authorize` asks for more.
            context.interactionNotAllowed = true
            end(context, .authorized)
        } catch {
            end(context, .notAuthorized)
            throw isCurrent(context) ? error : LAError(.appCancel)
        }
        // Given back while the owner was asked: what was shown does not count.
        guard isCurrent(context) else { throw LAError(.appCancel) }
    }

    /// The same with a completion, which is called once, on a private thread.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightWork.startTask(
            { try await self.authorize(localizedReason: localizedReason) },
            completion: completion
        )
    }

    /// Whether the owner could be recognised now; nobody is asked.
    ///
    /// - Throws: ``LAError`` with the reason when not.
    open func checkCanAuthorize() async throws {
        try await checkExistence()
        let policy: LAPolicy =
            requirement.needsFinger ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
        try await RightWork.run {
            var error: NSError?
            guard !LAContext().canEvaluatePolicy(policy, error: &error) else { return }
            throw error.map(LAError.init(_nsError:)) ?? LAError(.biometryNotAvailable)
        }
    }

    /// The same with a completion, which is called once, on a private thread.
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightWork.startTask({ try await self.checkCanAuthorize() }, completion: completion)
    }

    /// Gives the right back: the next use asks again, and a prompt that is shown for it ends.
    open func deauthorize() async { giveBack() }

    /// The same with a completion, which is called once, on a private thread.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        giveBack()
        RightWork.start({}, completion: { _ in completion() })
    }

    // MARK: - State

    /// Whether there still is what the right stands for; one that is not saved stands for itself.
    func checkExistence() async throws {}

    /// What the owner was recognised by; `nil` unless the right is authorized.
    var openContext: LAContext? { standing.withLock { $0.state == .authorized ? $0.context : nil } }

    private func begin() throws -> LAContext {
        let context = LAContext()
        let isFree = change { standing in
            guard standing.state != .authorizing else { return false }
            standing.context?.invalidate()
            standing.context = context
            standing.state = .authorizing
            return true
        }
        guard isFree else { throw LAError(.systemCancel) }
        return context
    }

    private func end(_ context: LAContext, _ state: State) {
        change { standing in
            if standing.context === context { standing.state = state }
        }
    }

    /// Whether the right was not given back since.
    private func isCurrent(_ context: LAContext) -> Bool { standing.withLock { $0.context === context } }

    private func giveBack() {
        let context = change { standing in
            defer { standing.context = nil }
            standing.state = .notAuthorized
            return standing.context
        }
        context?.invalidate()
    }

    private func change<Value: Sendable>(_ body: (inout Standing) -> Value) -> Value {
        registrar.withMutation(of: self, keyPath: \.state) { standing.withLock { body(&$0) } }
    }
}
