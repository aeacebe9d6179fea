// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import WhorlEnrollment
package import WhorlFingerprint
package import WhorlService

/// One account's fingers on one reader, for programs that the system's rules cover and that cannot show Whorl's
/// prompts.
///
/// A match does not unlock anything; it only means that the account's owner touched the reader.
package struct AccountFingers: Sendable {
    /// The time within which the user must touch the reader.
    package static let patience = Duration.seconds(60)
    /// The name under which these programs appear in the log.
    private static let application = ApplicationID(rawValue: "net.reactivated.Fprint")

    /// The consent to a change, which is bound to the set of fingers before anyone was asked.
    package struct Consent: Sendable {
        fileprivate let owner: OwnerConsent?
    }

    /// The engine, which uses this reader.
    let engine: AuthenticationEngine
    let fingers: InProcessFingers
    let reader: any FingerprintReader

    /// Returns the fingers enrolled on this reader, in the order of their numbers.
    ///
    /// - Throws: `enrollmentTampered`, `enrollmentRolledBack` or a storage error.
    package func enrolled() async throws(ServiceError) -> [EnrolledFinger] {
        let id = await reader.info.id
        let here = try await fingers.list(ListFingers()).filter { $0.reader == id }
        return here.sorted { $0.finger.number < $1.finger.number }
    }

    /// Waits for one touch, which counts as an attempt.
    ///
    /// - Parameters:
    ///   - finger: The only finger to accept; `nil` for any enrolled finger.
    ///   - presenter: Receives the updates; nothing that it reports can cause a match.
    /// - Throws: The errors of `AuthenticationEngine.evaluate(_:presenter:)`, including `authenticationFailed` if the
    ///   finger did not match.
    package func verify(
        _ finger: Finger?,
        _ presenter: some PromptPresenter
    ) async throws(ServiceError) {
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: .yes,
            reason: "verify your finger for another program",
            application: Self.application,
            fallbackTitle: "",
            timeout: Self.patience
        )
        request.patience = .seconds(2)
        request.mostTries = 1
        request.finger = finger
        let evaluation = try await engine.evaluate(request, presenter: presenter)
        guard evaluation.method == .biometry, !evaluation.isReused, let found = evaluation.finger,
            finger == nil || found == finger
        else { throw ServiceError(.authenticationFailed, cause: "no such finger was touched") }
    }

    /// Checks whether the system's rules allow a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isAllowed: Returns whether the rules allow the change; the argument says whether the owner cannot be
    ///     recognized yet.
    /// - Returns: The consent.
    /// - Throws: `authenticationFailed` if they do not allow it; `enrollmentTampered`, `enrollmentRolledBack` or
    ///   `storeFailed`.
    package func consent(
        to change: FingerChange,
        _ isAllowed: @Sendable (_ isFirst: Bool) async -> Bool
    ) async throws(ServiceError) -> Consent {
        Consent(owner: try await engine.consentOfAccount(to: change, for: Self.application, isAllowed))
    }

    /// Returns the consent to the first finger of a user other than the client's, which the system's rules allow.
    ///
    /// - Throws: `ownerNeeded` if a finger, a passcode or an item exists; `enrollmentTampered`, `enrollmentRolledBack` or
    ///   `storeFailed`.
    package func consent(toFirst finger: Finger) async throws(ServiceError) -> Consent {
        Consent(owner: try await engine.consentOfAdministrator(toFirst: finger))
    }

    /// Enrolls a finger.
    ///
    /// - Throws: The errors of ``EnrollFinger``.
    package func enroll(
        _ finger: Finger,
        _ consent: Consent,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) {
        let enroller = try await fingers.newEnroller(for: ConsentRequest(application: Self.application))
        _ = try await fingers.enroll(
            NewFinger(finger),
            enroller,
            on: reader,
            consent.owner,
            Self.patience,
            observer
        )
    }

    /// Removes fingers from this reader, one by one, after the rules have allowed it.
    ///
    /// - Throws: The errors of ``RemoveFingers`` if some fingers were not removed.
    package func remove(_ those: [Finger]) async throws(ServiceError) {
        let id = await reader.info.id
        for finger in those {
            let selection = FingerSelection.finger(finger, on: id)
            let consent = try await self.consent(to: .remove(selection)) { _ in true }
            guard let enroller = try await fingers.existingEnroller(for: Self.application) else {
                throw ServiceError(.noSuchFinger)
            }
            _ = try await enroller.remove(
                selection,
                profile: engine.profile,
                readers: [reader],
                consent: consent.owner
            )
        }
    }
}
