// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import FoundationEssentials
public import WhorlService

/// The user's enrolled fingers.
///
///     for try await step in Fingers.enroll(.leftThumb) { print(step) }
public enum Fingers {
    /// Returns the enrolled fingers, without a prompt.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack`, a storage error.
    public static func list() async throws(ServiceError) -> [EnrolledFinger] {
        try await ContextParts.current.ask(ListFingers())
    }

    /// Returns a digest of the enrolled fingers that is different after each change, 32 bytes; `nil` if none is enrolled.
    ///
    /// Other programs get another digest. On Apple's systems, it is `evaluatedPolicyDomainState`.
    ///
    /// - Throws: Those of ``list()``.
    public static func digest() async throws(ServiceError) -> Data? {
        let parts = ContextParts.current
        let state: EnrollmentState? = try await parts.ask(ReadEnrollmentState(for: parts.application))
        return state?.digest
    }

    /// Enrolls a finger, as a sequence of the steps to show to the user.
    ///
    /// The enrollment begins with the iteration. If a finger is enrolled or a passcode is set, the user authenticates
    /// first. The sequence ends after the finger is stored. If the iteration ends earlier, nothing is stored.
    ///
    /// - Parameters:
    ///   - finger: The finger, which must not be enrolled yet.
    ///   - label: A label for display, at most 100 characters.
    ///   - presenter: Shows the prompt; `nil` uses the session's prompt program, or else the terminal.
    /// - Returns: The steps, which begin when they are iterated.
    public static func enroll(
        _ finger: Finger,
        label: String? = nil,
        presenter: (any PromptPresenter)? = nil
    ) -> Enrollment { Enrollment(NewFinger(finger, label: label), presenter) }

    /// Removes a finger; the user authenticates first.
    ///
    /// Items that are bound to the current set of fingers are lost.
    ///
    /// - Returns: The removed prints; a finger can be enrolled on several readers.
    /// - Throws: `noSuchFinger`, `readerNotConnected`, the reason why the user was not authenticated, and others.
    @discardableResult
    public static func remove(
        _ finger: Finger,
        presenter: (any PromptPresenter)? = nil
    ) async throws(ServiceError) -> [EnrolledFinger] {
        let parts = ContextParts.current
        let request = ConsentRequest(application: parts.application)
        return try await parts.ask(
            RemoveFingers(.finger(finger, on: nil), force: false, request),
            presenter: presenter ?? parts.presenter
        )
    }
}
