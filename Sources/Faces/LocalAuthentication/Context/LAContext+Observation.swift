// SPDX-License-Identifier: Apache-2.0

public import Observation

/// `withObservationTracking` sees what a program sets, and ``evaluatedPolicyDomainState``.
///
/// What the machine is like (``biometryType``, ``domainState``) changes without the context: ``LAEnvironment`` tells of it.
extension LAContext: Observable {}

extension LAContext {
    /// Reads what the program set; whoever tracks this one is told when it changes.
    func setting<Value>(
        _ property: KeyPath<LAContext, Value>,
        _ value: KeyPath<ContextSettings, Value>
    ) -> Value {
        registrar.access(self, keyPath: property)
        return core.settings[keyPath: value]
    }

    /// Sets it, and tells whoever tracks it.
    func set<Value>(
        _ property: KeyPath<LAContext, Value>,
        _ value: WritableKeyPath<ContextSettings, Value>,
        _ new: Value
    ) {
        registrar.withMutation(of: self, keyPath: property) {
            core.change { $0[keyPath: value] = new }
        }
    }

    /// Tells whoever tracks ``evaluatedPolicyDomainState``; it does not keep the context alive.
    func trackDomainState() {
        core.onDomainStateChange { [weak self] in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.evaluatedPolicyDomainState) {}
        }
    }
}
