// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The settings of a context; an evaluation takes them as they are when it begins.
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

    /// The reuse window, clamped to its valid range; a value that is not a number counts as 0.
    private var reuse: Duration {
        guard reuseDuration > 0 else { return .zero }
        return .seconds(min(reuseDuration, LATouchIDAuthenticationMaximumAllowableReuseDuration))
    }
}
