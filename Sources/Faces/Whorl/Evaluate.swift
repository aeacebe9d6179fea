// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import WhorlService

/// The proof with which the user authenticated.
public enum Proof: Sendable, Hashable {
    /// This enrolled finger matched.
    case finger(Finger)
    /// The passcode was typed.
    case passcode
}

/// Prompts the user to authenticate, and returns only if the user did.
///
///     let proof = try await Whorl.evaluate("show your balance")    // .finger(.rightIndex) or .passcode
///
/// The result is only a value, which a modified program can ignore: protect data with ``Secrets`` or ``Keys``.
/// Cancelling the task ends the prompt with `appCancel`.
///
/// - Parameters:
///   - reason: The reason for the request, which the prompt shows; it completes “… wants to”.
///   - policy: Whether the passcode is accepted as well as a finger, which is the default.
///   - presenter: Shows the prompt; `nil` uses the session's prompt program, or else the terminal.
/// - Returns: The proof.
/// - Throws: The reason why the user was not authenticated; see `ServiceError.code`.
@discardableResult
public func evaluate(
    _ reason: String,
    policy: Policy = .deviceOwner,
    presenter: (any PromptPresenter)? = nil
) async throws(ServiceError) -> Proof {
    let parts = ContextParts.current
    let request = EvaluationRequest(
        policy: policy,
        purpose: .yes,
        reason: reason,
        application: parts.application
    )
    let evaluation = try await parts.evaluate(request, presenter: presenter ?? parts.presenter)
    switch evaluation.method {
    case .passcode: return .passcode
    case .biometry:
        // Each match names its print.
        guard let finger = evaluation.finger else {
            throw ServiceError(.readerUntrustworthy, cause: "a match without a finger")
        }
        return .finger(finger)
    }
}

/// Returns the reason why ``evaluate(_:policy:presenter:)`` would fail now; `nil` if it could succeed.
///
/// It neither prompts nor opens the reader.
///
/// - Parameter policy: Whether the passcode would be accepted as well.
/// - Returns: The reason, or `nil`.
public func obstacle(to policy: Policy = .deviceOwner) async -> ServiceError? {
    let parts = ContextParts.current
    return await parts.preflight(policy, for: parts.application).obstacle
}
