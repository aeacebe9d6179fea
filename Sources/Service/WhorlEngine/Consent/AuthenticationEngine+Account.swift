// SPDX-License-Identifier: Apache-2.0

package import WhorlEnrollment
import StateStore
import WhorlFingerprint
package import WhorlService

extension AuthenticationEngine {
    /// Takes the word of the system's rules for the owner's, about a change of the enrolled fingers.
    ///
    /// It is for programs that can show no prompt for the owner's own proof, as those of fprintd's interface. Where the
    /// fingers cannot be trusted, no rule of the system stands in for the passcode. The log has a line with the change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - application: The program that asks, for the log.
    ///   - isAllowed: Returns whether the rules allow the change; its argument tells whether nothing says yet who the
    ///     owner is. It is asked once.
    /// - Returns: The consent, for this change of the fingers as they were before the rules were asked; `nil` where
    ///   the change needs none.
    /// - Throws: `authenticationFailed` where the rules do not allow it; `enrollmentTampered`, `enrollmentRolledBack`,
    ///   `storeFailed`.
    @concurrent
    package func consentOfAccount(
        to change: OwnerConsent.Change,
        for application: ApplicationID,
        _ isAllowed: @Sendable (_ isFirst: Bool) async -> Bool
    ) async throws(AuthenticationError) -> OwnerConsent? {
        let status = try await enrollmentStatus()
        if let fault = status?.fault { throw AuthenticationError(fault) }
        let isFirst = status.map { $0.need == .nothing } ?? true
        guard await isAllowed(isFirst) else {
            throw AuthenticationError(.authenticationFailed, cause: "the system's rules do not allow it")
        }
        guard let status, !isFirst else { return nil }
        try await note(change, application)
        return OwnerConsent(to: change, in: status, by: .account)
    }

    private func note(
        _ change: OwnerConsent.Change,
        _ application: ApplicationID
    ) async throws(AuthenticationError) {
        let entry = AuditEntry(
            at: time.now().date,
            profile: profile,
            application: application.rawValue,
            event: .evaluation,
            outcome: "account",
            detail: "the system's rules allowed to \(change.spoken)"
        )
        do throws(StateError) {
            guard let database = try await state.existing() else { return }
            try await database.write { try AuditLog.append(entry, in: $0) }
        } catch {
            throw AuthenticationError(error)
        }
    }
}
