// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import WhorlSQLite
import WhorlStateStore
package import WhorlService

extension AuthenticationEngine {
    /// Returns whether the user has disabled fingers for a program.
    ///
    /// - Throws: `storeFailed`.
    @concurrent
    package func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool {
        let optOuts = OptOuts(profile: profile)
        guard let database = try await state.existing() else { return false }
        return try await database.read { try optOuts.contains(application, in: $0) }
    }

    /// Disables or enables fingers for a program.
    ///
    /// If it is not the requesting program, the owner is prompted first.
    ///
    /// The name of an unconfined program is only what the program claims. So in the system service, only a confined
    /// program is known to make the request for itself.
    ///
    /// - Throws: An error if the owner did not consent, or `storeFailed`.
    @concurrent
    package func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        guard try await isOptedOut(application) != optedOut else { return }
        let isKnown = request.asker.map { $0.confinedAs != nil } ?? true
        let isOwn = isKnown && application == request.application
        if !isOwn {
            let purpose = "\(optedOut ? "deny" : "allow") fingers for \(application.rawValue)"
            try await requireOwner(
                for: .optOut(application.rawValue),
                to: purpose,
                request,
                presenter: presenter
            )
        }
        let outcome =
            switch (isOwn, optedOut) {
            case (true, true): AuditKind.ownOut
            case (true, false): AuditKind.ownIn
            case (false, true): "out"
            case (false, false): "in"
            }
        try await store(
            optedOut,
            for: application,
            entry(.optOut, outcome, for: application.rawValue, asker: request.asker)
        )
    }

    /// Disables or enables fingers for a program.
    ///
    /// If nothing would change, files are not created.
    ///
    /// - Throws: `storeFailed`.
    @concurrent
    package func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID
    ) async throws(ServiceError) {
        try await store(
            optedOut,
            for: application,
            entry(.optOut, optedOut ? "out" : "in", for: application.rawValue)
        )
    }

    private func store(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ entry: AuditEntry
    ) async throws(ServiceError) {
        let optOuts = OptOuts(profile: profile)
        let database = optedOut ? try await state.created() : try await state.existing()
        guard let database else { return }
        try await database.write { db in
            guard try optOuts.contains(application, in: db) != optedOut else { return }
            try optOuts.set(optedOut, application, in: db)
            try AuditLog.append(entry, in: db)
        }
    }

    /// Ends the lockout of fingers for real and virtual readers, on behalf of an administrator.
    ///
    /// - Parameter asker: The requesting program, and its user.
    /// - Returns: Whether fingers were locked out.
    /// - Throws: An error if the lockout cannot be ended.
    @concurrent
    package func unlock(by asker: Asker?) async throws(ServiceError) -> Bool {
        let by = asker.map { "by user \($0.user)" }
        let entry = entry(.lockout, "unlocked", for: "", detail: by, asker: asker)
        guard let database = try await state.existing() else { return false }
        return try await database.write { [profile] db in
            try AuditLog.append(entry, in: db)
            return try BiometricLock.lift(of: profile, in: db)
        }
    }

    /// Changes the state in one transaction; does nothing if nothing was ever stored.
    func changeExisting(
        _ change: @escaping @Sendable (Database) throws -> Void
    ) async throws(ServiceError) {
        try await state.existing()?.write { try change($0) }
    }

    /// Returns a log entry for an event without a reader.
    func entry(
        _ event: AuditEntry.Event,
        _ outcome: String,
        for application: String,
        detail: String? = nil,
        asker: Asker? = nil
    ) -> AuditEntry {
        AuditEntry(
            at: time.now().date,
            profile: profile,
            application: application,
            event: event,
            outcome: outcome,
            detail: detail,
            asker: asker
        )
    }
}

/// The programs for which a user has disabled fingers, which are stored in the table `opt_outs`.
package struct OptOuts: Sendable {
    /// The profile to which the choices belong.
    package let profile: String

    /// Creates access to a profile's choices.
    package init(profile: String) { self.profile = profile }

    /// Returns whether fingers are disabled for a program.
    package func contains(_ application: ApplicationID, in db: Database) throws -> Bool {
        try db.value(
            sql: "SELECT EXISTS (SELECT 1 FROM opt_outs WHERE profile = ? AND application = ?)",
            arguments: [profile, application.rawValue]
        ) ?? false
    }

    /// Disables or enables fingers for a program.
    ///
    /// A second call with the same values has no effect.
    package func set(_ optedOut: Bool, _ application: ApplicationID, in db: Database) throws {
        if optedOut { try StorageQuota.standard.check(adding: application.rawValue.utf8.count, db) }
        let change =
            optedOut
            ? "INSERT OR IGNORE INTO opt_outs (profile, application) VALUES (?, ?)"
            : "DELETE FROM opt_outs WHERE profile = ? AND application = ?"
        try db.execute(sql: change, arguments: [profile, application.rawValue])
    }
}
