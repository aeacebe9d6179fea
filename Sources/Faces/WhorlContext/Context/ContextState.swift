// SPDX-License-Identifier: Apache-2.0

internal import WhorlSecretMemory
package import WhorlService

/// The mutable state of a context, protected by its core's lock.
struct ContextState {
    /// The program's settings.
    var settings = ContextSettings()
    /// The domain state at the last biometric success.
    var domainState: Data?
    /// The strength of the touch in the last success, or `nil` if there was none.
    var strength: TouchStrength?
    /// Whether the context has been invalidated.
    ///
    /// If so, operations can neither start nor succeed.
    var isInvalidated = false
    /// The evaluation in progress.
    var running: Task<ContextCore.Outcome, Never>?
    /// The credentials that the program has set.
    ///
    /// The PIN of a smart card is stored and reported, but not used.
    var credentials: [CredentialKind: SecretBox] = [:]
    /// The functions that cancel the operations in progress on protected items, by operation number.
    var releases: [Int: @Sendable () -> Void] = [:]
    /// The number of operations that have been started, which is also the number of the latest one.
    var releaseCount = 0
}

/// The settings of a context.
///
/// An evaluation uses the settings that apply when it starts.
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
            purpose: .storedByProgram,
            reason: reason,
            application: application,
            cancelTitle: cancelTitle,
            fallbackTitle: fallbackTitle,
            reuse: reuse,
            interactionAllowed: !interactionNotAllowed
        )
    }

    /// The reuse window, clamped to its valid range, or 0 if it is not a number.
    private var reuse: Duration {
        guard reuseDuration > 0 else { return .zero }
        return .seconds(min(reuseDuration, LATouchIDAuthenticationMaximumAllowableReuseDuration))
    }
}
