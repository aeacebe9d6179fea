// SPDX-License-Identifier: Apache-2.0

public import Observation

/// Support for `withObservationTracking`, which observes a context's settings and ``evaluatedPolicyDomainState``.
///
/// The state of the machine (``biometryType``, ``domainState``) changes independently of the context. Use
/// ``LAEnvironment`` to observe it.
extension LAContext: Observable {}

extension LAContext {
    /// Returns a setting.
    ///
    /// Observers that track the setting are notified when it changes.
    func setting<Value>(
        _ property: KeyPath<LAContext, Value>,
        _ value: KeyPath<ContextSettings, Value>
    ) -> Value {
        registrar.access(self, keyPath: property)
        return core.settings[keyPath: value]
    }

    /// Changes a setting, and notifies the observers that track the setting.
    func set<Value>(
        _ property: KeyPath<LAContext, Value>,
        _ value: WritableKeyPath<ContextSettings, Value>,
        _ new: Value
    ) {
        registrar.withMutation(of: self, keyPath: property) {
            core.change { $0[keyPath: value] = new }
        }
    }

    /// Starts to notify observers of changes to ``evaluatedPolicyDomainState``, without retaining the context.
    func trackDomainState() {
        core.onDomainStateChange { [weak self] in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.evaluatedPolicyDomainState) {}
        }
    }
}
