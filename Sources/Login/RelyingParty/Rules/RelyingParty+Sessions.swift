// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

/// Sessions that a server has begun after a sign-in, and that their users end: the store remembers them until they would
/// have expired.
extension RelyingParty {
    /// Ends a session before its time.
    ///
    /// - Parameters:
    ///   - session: The mark of the session, which holds the time when it expires.
    ///   - user: The user whose session it is.
    ///   - device: The device that began it; `nil` if it was none.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: `false` if it was ended before.
    /// - Throws: `store`.
    public func end(
        _ session: Nonce,
        of user: LoginName,
        on device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> Bool {
        try await store.use(
            session,
            audit: AuditEntry(
                at: now,
                event: .sessionEnded,
                user: user,
                device: device,
                address: ClientAddress(address).text
            )
        )
    }

    /// Whether a session was ended before its time.
    ///
    /// - Throws: `store`.
    public func isEnded(_ session: Nonce) async throws(RelyingPartyError) -> Bool {
        try await store.isUsed(session)
    }
}
