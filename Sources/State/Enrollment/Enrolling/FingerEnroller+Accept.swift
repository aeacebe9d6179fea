// SPDX-License-Identifier: Apache-2.0

import Fingerprint

/// What became of fingers that were changed from outside, or were of an older state, and that the owner accepted.
public struct AcceptedFingers: Sendable {
    /// The fingers that are enrolled from now on.
    public let kept: [EnrolledFinger]
    /// Entries that cannot be compared with any more, and were taken out.
    public let removed: [EnrolledFinger]
}

extension FingerEnroller {
    /// The fingers that ``accept(profile:consent:)`` would keep; nothing is changed.
    ///
    /// - Returns: The fingers; `nil` where the set is sound, and there is nothing to accept.
    /// - Throws: `store`.
    public func acceptable(profile: String) async throws(EnrollmentError) -> [EnrolledFinger]? {
        let standing = try await store.standing(of: profile)
        return standing.fault == nil ? nil : standing.fingers
    }

    /// Takes the present fingers of a profile for the true ones, after they were changed from outside or an older state was
    /// put back.
    ///
    /// Kept is what this machine sealed for this profile: a template that was copied from elsewhere does not open. The
    /// set becomes another one: earlier domain states do not come back, and what was bound to an earlier set stays refused.
    ///
    /// - Parameters:
    ///   - profile: Whose fingers.
    ///   - consent: The owner's consent, which only the passcode gives here.
    /// - Returns: The fingers that count from now on; `nil` where the set is sound, and nothing is changed.
    /// - Throws: `ownerNeeded`, also where no passcode is set; `changedMeanwhile`, `store`.
    public func accept(
        profile: String,
        consent: OwnerConsent?
    ) async throws(EnrollmentError) -> AcceptedFingers? {
        let standing = try await store.standing(of: profile)
        guard standing.fault != nil else { return nil }
        guard let consent else { throw EnrollmentError(.ownerNeeded) }
        let restart = try await store.restart(standing, .accept, by: consent)
        return AcceptedFingers(
            kept: restart.kept.map(\.enrolledFinger),
            removed: restart.removed.map(\.enrolledFinger)
        )
    }
}
