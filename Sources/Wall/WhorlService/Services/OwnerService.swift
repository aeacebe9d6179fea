// SPDX-License-Identifier: Apache-2.0

/// Questions about the owner: whether an evaluation could succeed, and whether the owner is present.
///
/// A result that says "recognised" is a return value without an error; nothing else counts as a success.
public protocol OwnerService: Sendable {
    /// Returns whether an evaluation could succeed now. It never prompts, and never opens the reader.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Asks the person for a finger or the passcode, and returns only when the policy is met.
    ///
    /// Cancelling the task ends the evaluation with ``AuthenticationError/Code/appCancel``.
    ///
    /// - Throws: the error of every evaluation without success, of whatever kind.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation

    /// Returns whether the person has told this program not to use fingers.
    func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool

    /// Stores that this program must not use fingers, or that it may again.
    ///
    /// Opting out is a state of its own, neither "not available" nor "not enrolled", although a face may have only one
    /// code for all of them.
    func setOptedOut(_ optedOut: Bool, for application: ApplicationID) async throws(AuthenticationError)
}

/// The services that `LAContext` and the keychain use.
public typealias AuthenticationService = OwnerService & ItemService
