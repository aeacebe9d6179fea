// SPDX-License-Identifier: Apache-2.0

package import Authentication

/// What a program sets on a context; an evaluation takes it as it is when it begins.
package struct ContextSettings: Sendable {
    package var fallbackTitle: String?
    package var cancelTitle: String?
    package var reason = ""
    package var reuseDuration: TimeInterval = 0
    package var interactionNotAllowed = false
    package var maxBiometryFailures: Int?
    package var presenter: (any PromptPresenter)?

    func request(_ policy: Policy, reason: String, for application: ApplicationID) -> EvaluationRequest {
        EvaluationRequest(
            policy: policy,
            reason: reason,
            application: application,
            cancelTitle: cancelTitle,
            fallbackTitle: fallbackTitle,
            reuse: reuse,
            interactionAllowed: !interactionNotAllowed
        )
    }

    /// The window, within what it can be: what is no number counts as 0.
    private var reuse: Duration {
        guard reuseDuration > 0 else { return .zero }
        return .seconds(min(reuseDuration, LATouchIDAuthenticationMaximumAllowableReuseDuration))
    }
}
