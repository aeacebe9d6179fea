// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
public import WhorlService

extension FingerEnroller {
    /// The fingers that ``accept(profile:consent:)`` would keep; nothing is changed.
    ///
    /// - Returns: The fingers; `nil` if the set is sound, so that there is nothing to accept.
    /// - Throws: `store`.
    public func acceptable(profile: String) async throws(EnrollmentError) -> [EnrolledFinger]? {
        let status = try await store.status(of: profile)
        return status.fault == nil ? nil : status.fingers
    }

    /// Accepts the present fingers of a profile as genuine, after they were changed from outside or an older state was
    /// put back.
    ///
    /// Only prints that this machine sealed for this profile are kept: a template that was copied from elsewhere does
    /// not open. The set gets a new digest: earlier domain states do not come back, and items bound to an earlier set
    /// stay refused.
    ///
    /// - Parameters:
    ///   - profile: The profile whose fingers are accepted.
    ///   - consent: The owner's consent, which only the passcode gives here.
    /// - Returns: The fingers that count from now on; `nil` if the set is sound, and nothing is changed.
    /// - Throws: `ownerNeeded`, also if no passcode is set; `changedMeanwhile`, `store`.
    public func accept(
        profile: String,
        consent: OwnerConsent?
    ) async throws(EnrollmentError) -> AcceptedFingers? {
        let status = try await store.status(of: profile)
        guard status.fault != nil else { return nil }
        guard let consent else { throw EnrollmentError(.ownerNeeded) }
        let restart = try await store.restart(status, .accept, by: consent)
        return AcceptedFingers(
            kept: restart.kept.map(\.enrolledFinger),
            removed: restart.removed.map(\.enrolledFinger)
        )
    }
}
