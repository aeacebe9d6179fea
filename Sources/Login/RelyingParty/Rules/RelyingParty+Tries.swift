// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
internal import Synchronization

/// Rate limits for a server's other guessable secrets, such as passwords; attempts are counted in the same store, so
/// that a limit applies to all instances together.
extension RelyingParty {
    /// Counts an attempt for a user.
    ///
    /// Anyone who knows a user's name can use up the limit and so lock the user out for the rest of the window.
    ///
    /// - Parameters:
    ///   - what: The type of attempt, as one word; each type is counted separately.
    ///   - user: The user named in the attempt.
    ///   - limit: The limit for such attempts.
    /// - Throws: `tooManyTries`, `store`.
    public func countTry(
        _ what: String,
        by user: LoginName,
        limit: Configuration.Limit
    ) async throws(RelyingPartyError) {
        try await count("other\n\(what)\nuser\n\(user.text)", limit)
    }

    /// Counts an attempt from an address; IPv6 addresses with the same first 64 bits are counted together.
    ///
    /// - Parameters:
    ///   - what: The type of attempt, as one word; each type is counted separately.
    ///   - address: The client's address; an empty one is not counted.
    ///   - limit: The limit for such attempts.
    /// - Throws: `tooManyTries`, `store`.
    public func countTry(
        _ what: String,
        from address: String,
        limit: Configuration.Limit
    ) async throws(RelyingPartyError) {
        guard let key = ClientAddress(address).bucketKey else { return }
        try await count("other\n\(what)\n\(key)", limit)
    }

    /// Counts an attempt in several buckets, in order, and stops at the first bucket that is full.
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

    /// Refunds attempts that turned out to be successful.
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

/// The attempts from each address within a window of time, as counted by this instance.
///
/// They are not stored: this limit only protects the server from flooding, and outsiders must not be able to cause
/// writes.
final class AddressTries: Sendable {
    /// The maximum number of tracked addresses.
    private static let most = 65_536

    private struct Window {
        var endsAt: Int
        var count: Int
    }

    private let windows = Mutex<[String: Window]>([:])

    /// The number of tracked addresses.
    var addresses: Int { windows.withLock { $0.count } }

    /// Counts an attempt.
    ///
    /// - Returns: The number of seconds to wait if the limit has been reached; otherwise `nil`.
    func count(_ bucket: RateBucket, at now: Int) -> Int? {
        windows.withLock { windows in
            let ends = now + bucket.seconds
            if windows[bucket.key] == nil, windows.count >= Self.most {
                windows = windows.filter { ((now + 1)...ends).contains($0.value.endsAt) }
                // Counting does not stop a client with that many networks.
                if windows.count >= Self.most { windows = [:] }
            }
            var window = windows[bucket.key] ?? Window(endsAt: ends, count: 0)
            // A window that ends later than the limit allows was created before the clock was set back.
            if !((now + 1)...ends).contains(window.endsAt) { window = Window(endsAt: ends, count: 0) }
            guard window.count < bucket.count else { return window.endsAt - now }
            window.count += 1
            windows[bucket.key] = window
            return nil
        }
    }
}
