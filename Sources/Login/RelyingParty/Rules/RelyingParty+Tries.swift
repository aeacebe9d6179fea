// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

/// Limits for other things that a server asks for and that can be guessed, such as passwords: counted in the same
/// store, so that they hold for all instances together.
extension RelyingParty {
    /// Counts a try of a user.
    ///
    /// Anyone who knows a user's name can use up the limit, and lock the user out for the rest of the window.
    ///
    /// - Parameters:
    ///   - what: The kind of try, a word of the server's own; each has its own count.
    ///   - user: The user whose name was given.
    ///   - limit: The limit of such tries.
    /// - Throws: `tooManyTries`, `store`.
    public func countTry(
        _ what: String,
        by user: LoginName,
        limit: Configuration.Limit
    ) async throws(RelyingPartyError) {
        try await count("other\n\(what)\nuser\n\(user.text)", limit)
    }

    /// Counts a try from an address; IPv6 counts by its first 64 bits.
    ///
    /// - Parameters:
    ///   - what: The kind of try, a word of the server's own; each has its own count.
    ///   - address: The client's address; an empty one is not counted.
    ///   - limit: The limit of such tries.
    /// - Throws: `tooManyTries`, `store`.
    public func countTry(
        _ what: String,
        from address: String,
        limit: Configuration.Limit
    ) async throws(RelyingPartyError) {
        guard let key = ClientAddress(address).bucketKey else { return }
        try await count("other\n\(what)\n\(key)", limit)
    }

    /// Counts a try in each of several buckets, in their order, and stops at the first that is full.
    ///
    /// - Throws: `tooManyTries`, `store`.
    public func countTries(_ buckets: [RateBucket]) async throws(RelyingPartyError) {
        try await reporting { () async throws(RelyingPartyError) in
            for bucket in buckets {
                guard let wait = try await store.count(bucket, at: now) else { continue }
                throw RelyingPartyError(.tooManyTries(retryAfter: wait))
            }
        }
    }

    /// Takes back tries that were counted before they turned out to be right.
    ///
    /// - Throws: `store`.
    public func refundTries(_ buckets: [RateBucket]) async throws(RelyingPartyError) {
        for bucket in buckets { try await store.refund(bucket, at: now) }
    }

    private func count(_ key: String, _ limit: Configuration.Limit) async throws(RelyingPartyError) {
        try await reporting { () async throws(RelyingPartyError) in
            let bucket = RateBucket(key: key, count: limit.count, seconds: limit.seconds)
            guard let wait = try await store.count(bucket, at: now) else { return }
            throw RelyingPartyError(.tooManyTries(retryAfter: wait))
        }
    }
}
