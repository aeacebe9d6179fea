// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory

/// Questions about the owner: whether an evaluation could succeed, and whether the owner is present.
///
/// A result that says "recognised" is a return value without an error; nothing else counts as a success.
public protocol OwnerService: Sendable {
    /// Returns whether an evaluation could succeed now. It never prompts, and never opens the reader.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Asks the person for a finger or the passcode, and returns only when the policy is met.
    ///
    /// Cancelling the task ends the evaluation with ``ServiceError/Code/appCancel``.
    ///
    /// - Throws: the error of every evaluation without success, of whatever kind.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation

    /// Returns whether the person has told this program not to use fingers.
    func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool

    /// Stores that a program must not use fingers, or that it may again; the owner is asked first if the program is
    /// another one than the one that asks.
    ///
    /// Opting out is a state of its own, neither "not available" nor "not enrolled", although a face may have only one
    /// code for all of them.
    ///
    /// - Parameters:
    ///   - optedOut: Whether the program must not use fingers.
    ///   - application: The program.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Throws: the reason why the owner did not agree; `storeFailed`.
    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError)
}

/// The services that `LAContext` and the keychain use.
public typealias AuthenticationService = OwnerService & ItemService

/// The owner's passcode.
public protocol PasscodeService: Sendable {
    /// Whether a passcode is set.
    ///
    /// - Throws: `noChip` where a passcode could not be set either; a storage error.
    func isSet() async throws(ServiceError) -> Bool

    /// Asks for an enrolled finger, if there is one, before a first passcode is set.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked.
    ///   - session: The session that keeps the match for ``set(_:_:shown:)``.
    ///   - presenter: Shows the prompt.
    /// - Throws: the error of every evaluation without success.
    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(ServiceError)

    /// Sets the first passcode.
    ///
    /// If a finger is enrolled, its match is needed, within a minute and for this purpose: a person who sets the passcode can
    /// enroll further fingers with it.
    ///
    /// - Parameters:
    ///   - passcode: 4 to 1,024 bytes, as they were typed.
    ///   - request: The program that asks, as it asked for the finger.
    ///   - session: The session that ``askForFinger(_:in:presenter:)`` was given.
    /// - Throws: `passcodeExists`, `passcodeWrongSize`, `accessDenied` without a needed match, `noChip`, a storage error.
    func set(
        _ passcode: SecretBox,
        _ request: ConsentRequest,
        shown session: OwnerSession
    ) async throws(ServiceError)

    /// Asks for the passcode and changes it; items that the old one opens are opened by the new one.
    ///
    /// - Parameters:
    ///   - new: The new passcode: 4 to 1,024 bytes, as they were typed.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Throws: the reason why the owner did not agree; `passcodeNotSet`, `passcodeWrongSize`, `noChip`, a storage error.
    func change(
        to new: SecretBox,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError)

    /// Returns the items that would be lost with the passcode.
    ///
    /// - Throws: `passcodeNotSet`, a storage error.
    func itemsLostWithout() async throws(ServiceError) -> [ItemID]

    /// Asks for the passcode, removes it, and removes the items that only the passcode opens.
    ///
    /// - Parameters:
    ///   - force: Whether to delete the items that would be lost; otherwise, nothing is changed if any would be lost.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The items that were deleted.
    /// - Throws: `passcodeNeeded(by:)`, and as ``change(to:_:presenter:)``.
    func remove(
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> [ItemID]
}

/// The verdict on a passcode.
public enum PasscodeVerdict: Sendable, Hashable {
    /// The passcode is right.
    case verified
    /// The passcode is wrong; the given number of tries is left before a wait, if the number is known.
    case wrong(triesLeft: Int?)
    /// Too many passcodes were wrong: none is compared for the given time.
    case throttled(for: Duration)
    /// No passcode is set.
    case notSet
}

/// The sizes of a passcode.
public enum PasscodeSize {
    /// The sizes that a new passcode may have, in bytes.
    public static let allowed = 4...1024
}
