// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

extension RelyingParty {
    /// The most rows of a kind that are removed in one go, so that no request waits long.
    private static let purgeSize = 1_000

    /// The newest lines of the audit log, the newest first.
    ///
    /// What anybody could fill it with is not in it: what answered no challenge, or was refused and named no key of the
    /// user's. ``RelyingPartyEvent`` tells of all.
    ///
    /// - Parameters:
    ///   - user: Whose; `nil` for all.
    ///   - count: How many at most.
    /// - Returns: The lines.
    /// - Throws: `store`.
    public func audit(of user: LoginName?, atMost count: Int = 100) async throws(RelyingPartyError)
        -> [AuditEntry]
    {
        try await store.audit(of: user, atMost: max(0, count))
    }

    /// Writes a line of the audit log about the server's own work, such as comparing passwords.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - user: To whom; `nil` where it concerns the server.
    ///   - device: On which device; `nil` where none was named.
    ///   - reason: Why, a word of the server's own.
    ///   - address: From where the request comes; empty where it is not known.
    /// - Throws: `store`.
    public func note(
        _ event: AuditEntry.Event,
        of user: LoginName?,
        on device: LoginName? = nil,
        because reason: String? = nil,
        from address: String
    ) async throws(RelyingPartyError) {
        try await store.record(
            AuditEntry(
                at: now,
                event: event,
                user: user,
                device: device,
                address: ClientAddress(address).text,
                reason: reason
            )
        )
    }

    /// Removes all rows that are over.
    ///
    /// Nothing needs to call it: challenges that are given out do a part of it now and then.
    ///
    /// - Throws: `store`.
    public func purge() async throws(RelyingPartyError) {
        while try await purgeOnce() {}
    }

    func purgeIfDue() async {
        guard purges.begins(at: now) else { return }
        var isMoreLeft = false
        do {
            isMoreLeft = try await purgeOnce()
        } catch {
            events(.purgeFailed(error))
        }
        purges.finished(moreIsLeft: isMoreLeft, at: now)
    }

    private func purgeOnce() async throws(RelyingPartyError) -> Bool {
        try await store.purge(keeping: configuration.auditEntries, atMost: Self.purgeSize, at: now)
    }
}
