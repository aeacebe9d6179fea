// SPDX-License-Identifier: Apache-2.0

/// The seam between the faces and the engine.
///
/// The faces (`LAContext`, the command line) know this protocol only. An implementation in the same process
/// holds the reader; one that speaks to a service would not.
public protocol AuthenticationService: Sendable {
    /// Whether an evaluation could succeed now. It never prompts, and never opens the reader.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Asks the person, and returns only when the policy is met.
    ///
    /// Cancelling the task ends the evaluation with ``AuthenticationError/Code/appCancel``.
    ///
    /// - Throws: everything that is not a success, whatever its kind.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation

    /// Whether the person has told this program not to use fingers.
    func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool

    /// Remembers that this program shall not use fingers, or that it may again.
    ///
    /// It is a state of its own: neither "not available" nor "not enrolled", although a face may have only
    /// one code for them.
    func setOptedOut(_ optedOut: Bool, for application: ApplicationID) async throws(AuthenticationError)
}
