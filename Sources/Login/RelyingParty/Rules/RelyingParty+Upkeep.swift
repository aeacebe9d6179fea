// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
internal import Synchronization

extension RelyingParty {
    /// The maximum number of rows removed at a time, so that requests do not have to wait long.
    private static let purgeSize = 1_000

    /// Returns the newest entries of the audit log, newest first.
    ///
    /// The log does not contain refusals of requests that were not signed with a key of the user, because outsiders can
    /// cause them. ``RelyingPartyEvent`` reports all refusals.
    ///
    /// - Parameters:
    ///   - user: The user whose entries are returned; `nil` for all users.
    ///   - count: The maximum number of entries.
    /// - Returns: The entries.
    /// - Throws: `store`.
    public func audit(of user: LoginName?, atMost count: Int = 100) async throws(RelyingPartyError)
        -> [AuditEntry]
    {
        try await store.audit(of: user, atMost: max(0, count))
    }

    /// Writes an audit log entry about the server's own work, such as comparing passwords.
    ///
    /// - Parameters:
    ///   - event: The type of event.
    ///   - user: The affected user; `nil` for the server.
    ///   - device: The device; `nil` if no device was named.
    ///   - reason: The reason, as one word.
    ///   - address: The client's address; empty if unknown.
    /// - Throws: `store`.
    public func note(
        _ event: AuditEntry.Event,
        of user: LoginName?,
        on device: LoginName? = nil,
        because reason: String? = nil,
        from address: String
    ) async throws(RelyingPartyError) {
        try await store.record(entry(event, user, device, ClientAddress(address), reason))
        if let user { await purgeIfDue(of: user) }
    }

    /// Removes all expired rows.
    ///
    /// Calling this method is optional, because sign-ins remove some expired rows from time to time.
    ///
    /// - Throws: `store`.
    public func purge() async throws(RelyingPartyError) {
        while try await purgeOnce() {}
    }

    /// Runs one part of a purge if it is due, during a request of a user, whose excess audit log entries are also
    /// removed.
    func purgeIfDue(of user: LoginName) async {
        guard purges.begins(at: now) else { return }
        var isMoreLeft = false
        do {
            isMoreLeft = try await purgeOnce(of: user)
        } catch {
            events(.purgeFailed(error))
        }
        purges.finished(moreIsLeft: isMoreLeft, at: now)
    }

    private func purgeOnce(of user: LoginName? = nil) async throws(RelyingPartyError) -> Bool {
        try await store.purge(keeping: configuration.audit, of: user, atMost: Self.purgeSize, at: now)
    }
}

/// The schedule for removing expired rows, which is done during requests, so that a server does not need a timer.
final class PurgeSchedule: Sendable {
    /// The pause before the next purge if nothing is left to remove, in seconds.
    private static let pause = 30

    private struct State {
        var due = 0
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Returns whether the caller should purge now; if so, the caller must call ``finished(moreIsLeft:at:)``
    /// afterwards.
    func begins(at now: Int) -> Bool {
        state.withLock {
            // If the clock was set back, do not delay the purge.
            guard !$0.isRunning, now >= $0.due || now < $0.due - Self.pause else { return false }
            $0.isRunning = true
            return true
        }
    }

    /// Records the end of a purge; the next one is due immediately if more rows are left.
    func finished(moreIsLeft: Bool, at now: Int) {
        state.withLock { $0 = State(due: moreIsLeft ? now : now + Self.pause) }
    }
}
