// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
internal import Synchronization

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

/// The tries of each address within a window of time, at this instance.
///
/// They are not in the store: such a limit only keeps the server from being flooded, and strangers must not be able to
/// make it write.
final class AddressTries: Sendable {
    /// The maximum number of addresses that are counted.
    private static let most = 65_536

    private struct Window {
        var endsAt: Int
        var count: Int
    }

    private let windows = Mutex<[String: Window]>([:])

    /// The number of addresses that are counted.
    var addresses: Int { windows.withLock { $0.count } }

    /// Counts a try.
    ///
    /// - Returns: The seconds to wait if the limit is reached; `nil` otherwise.
    func count(_ bucket: RateBucket, at now: Int) -> Int? {
        windows.withLock { windows in
            let ends = now + bucket.seconds
            if windows[bucket.key] == nil, windows.count >= Self.most {
                windows = windows.filter { ((now + 1)...ends).contains($0.value.endsAt) }
                // A client with that many networks is not stopped by counting them.
                if windows.count >= Self.most { windows = [:] }
            }
            var window = windows[bucket.key] ?? Window(endsAt: ends, count: 0)
            // A window that ends later than the limit allows was made before the clock was set back.
            if !((now + 1)...ends).contains(window.endsAt) { window = Window(endsAt: ends, count: 0) }
            guard window.count < bucket.count else { return window.endsAt - now }
            window.count += 1
            windows[bucket.key] = window
            return nil
        }
    }
}
