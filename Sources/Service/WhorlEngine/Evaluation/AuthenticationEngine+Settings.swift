// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import SecretMemory
import StateStore
public import WhorlService

extension AuthenticationEngine {
    /// Returns whether the person has told a program not to use fingers.
    ///
    /// - Throws: `storeFailed`.
    @concurrent
    public func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool {
        let optOuts = OptOuts(profile: profile)
        do throws(StateError) {
            guard let database = try await state.existing() else { return false }
            return try await database.read { try optOuts.contains(application, in: $0) }
        } catch {
            throw AuthenticationError(error)
        }
    }

    /// Stores that a program must not use fingers, or that it may again; a choice that already holds creates no file.
    ///
    /// - Throws: `storeFailed`.
    @concurrent
    public func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID
    ) async throws(AuthenticationError) {
        let optOuts = OptOuts(profile: profile)
        let entry = entry(.optOut, optedOut ? "out" : "in", for: application.rawValue)
        do throws(StateError) {
            let database = optedOut ? try await state.created() : try await state.existing()
            guard let database else { return }
            try await database.write { db in
                guard try optOuts.contains(application, in: db) != optedOut else { return }
                try optOuts.set(optedOut, application, in: db)
                try AuditLog.append(entry, in: db)
            }
        } catch {
            throw AuthenticationError(error)
        }
    }

    /// Lifts the lock on fingers, on real and on pretended readers, if the passcode is the right one.
    ///
    /// Any other verdict leaves the lock as it is.
    ///
    /// - Parameter passcode: The passcode that the person typed.
    /// - Returns: The authority's verdict; fingers are unlocked only after ``PasscodeVerdict/verified``.
    /// - Throws: `storeFailed`, when the authority cannot compare or the lock cannot be lifted.
    @concurrent
    public func unlock(with passcode: borrowing SecretBytes) async throws(AuthenticationError)
        -> PasscodeVerdict
    {
        let verdict = try await self.passcode.verify(passcode)
        switch verdict {
        case .verified: try await liftLock()
        case .wrong, .throttled, .notSet: break
        }
        return verdict
    }

    private func liftLock() async throws(AuthenticationError) {
        let entry = entry(.passcode, "unlocked", for: "")
        do throws(StateError) {
            guard let database = try await state.existing() else { return }
            try await database.write { [profile] db in
                try BiometricLock.lift(of: profile, in: db)
                try AuditLog.append(entry, in: db)
            }
        } catch {
            throw AuthenticationError(error)
        }
    }

    private func entry(_ event: AuditEntry.Event, _ outcome: String, for application: String) -> AuditEntry {
        AuditEntry(
            at: time.now().date,
            profile: profile,
            application: application,
            event: event,
            outcome: outcome
        )
    }
}
