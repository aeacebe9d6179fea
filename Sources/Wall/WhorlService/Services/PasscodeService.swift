// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The owner's passcode.
public protocol PasscodeService: Sendable {
    /// Whether a passcode is set.
    ///
    /// - Throws: `noChip` where a passcode could not be set either; `store`.
    func isSet() async throws(VaultError) -> Bool

    /// Asks for an enrolled finger, if there is one, before a first passcode is set.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked.
    ///   - session: The session that keeps the match for ``set(_:shown:)``.
    ///   - presenter: Shows the prompt.
    /// - Throws: the error of every evaluation without success.
    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError)

    /// Sets the first passcode.
    ///
    /// If a finger is enrolled, its match is needed: a person who sets the passcode can enroll further fingers with it.
    ///
    /// - Parameters:
    ///   - passcode: 4 to 1,024 bytes, as they were typed.
    ///   - session: The session that ``askForFinger(_:in:presenter:)`` was given.
    /// - Throws: `passcodeExists`, `passcodeWrongSize`, `accessDenied` without a needed match, `noChip`, `store`.
    func set(_ passcode: SecretBox, shown session: OwnerSession) async throws(VaultError)

    /// Changes the passcode; items that the old one opens are opened by the new one.
    ///
    /// - Throws: `passcodeWrong`, `passcodeThrottled`, `passcodeNotSet`, `passcodeWrongSize`, `noChip`, `store`.
    func change(_ old: SecretBox, to new: SecretBox) async throws(VaultError)

    /// Compares a passcode with the one that is set; the right one lifts the lock on fingers.
    ///
    /// - Throws: `storeFailed` and others, when it cannot be compared. A wrong passcode is a verdict, not an error.
    func verify(_ passcode: SecretBox) async throws(AuthenticationError) -> PasscodeVerdict

    /// Returns the items that would be lost with the passcode.
    ///
    /// - Throws: `passcodeNotSet`, `store`.
    func itemsLostWithout() async throws(VaultError) -> [ItemID]

    /// Removes the passcode, and the items that only the passcode opens.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - force: Whether to delete the items that would be lost; otherwise, nothing is changed if any would be lost.
    /// - Returns: The items that were deleted.
    /// - Throws: `passcodeNeeded(by:)`, and as ``change(_:to:)``.
    func remove(_ passcode: SecretBox, force: Bool) async throws(VaultError) -> [ItemID]
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
