// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
internal import Synchronization

extension RelyingParty {
    /// The maximum number of rows of a kind that are removed in one go, so that no request waits long.
    private static let purgeSize = 1_000

    /// Returns the newest lines of the audit log, the newest first.
    ///
    /// It leaves out refusals that a stranger can cause: those that no key of the user has signed.
    /// ``RelyingPartyEvent`` reports all of them.
    ///
    /// - Parameters:
    ///   - user: The user whose lines are meant; `nil` for all.
    ///   - count: The maximum number of lines.
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
    ///   - event: The kind of event.
    ///   - user: The user concerned; `nil` if it concerns the server.
    ///   - device: The device; `nil` if none was named.
    ///   - reason: The reason, a word of the server's own.
    ///   - address: The client's address; empty if it is not known.
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

    /// Removes all rows that have expired.
    ///
    /// Calling it is optional: sign-ins do a part of it now and then.
    ///
    /// - Throws: `store`.
    public func purge() async throws(RelyingPartyError) {
        while try await purgeOnce() {}
    }

    /// Does a part of the purge if it is due, on the way of a request of a user, whose lines of the audit log may have
    /// become too many.
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

/// The time of the next removal of expired rows: requests do it on their way, so that a server needs no timer.
final class PurgeSchedule: Sendable {
    /// The pause between two purges in seconds, if nothing is left to remove.
    private static let pause = 30

    private struct State {
        var due = 0
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Whether the caller is to purge now; it calls ``finished(moreIsLeft:at:)`` afterwards.
    func begins(at now: Int) -> Bool {
        state.withLock {
            // A clock that was set back must not delay the purge.
            guard !$0.isRunning, now >= $0.due || now < $0.due - Self.pause else { return false }
            $0.isRunning = true
            return true
        }
    }

    /// Ends a purge; the next one is due at once if more is left.
    func finished(moreIsLeft: Bool, at now: Int) {
        state.withLock { $0 = State(due: moreIsLeft ? now : now + Self.pause) }
    }
}
