// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion
internal import Synchronization

/// A store of a server's devices, used challenges and audit log.
///
/// Each operation is atomic, even if other instances use the store at the same time. Changes to devices and documents
/// are on disk before the operation returns. A challenge can be used only once: if a power failure may cause the record
/// of its use to be lost, the store has a new ``challengeKey()`` afterwards. All times are seconds since 1970, from the
/// caller's clock.
///
/// Every operation throws only ``RelyingPartyError/Code/store``. An operation that throws may still have taken effect,
/// if a database's reply was lost; an operation that returns has taken effect exactly once.
public protocol RelyingPartyStore: Sendable {
    /// The operations that are waiting for a pooled database connection, or for another write to finish.
    var waiting: StoreWait { get }

    /// Counts an attempt; returns the number of seconds to wait if the limit has been reached, and otherwise `nil`.
    func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int?

    /// Refunds an attempt that ``count(_:at:)`` counted in the same window.
    func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError)

    /// Returns the key for sealing challenges: 32 random bytes, the same for all instances.
    ///
    /// The key changes whenever the store may have lost its record of used challenges, which invalidates all earlier
    /// challenges.
    func challengeKey() async throws(RelyingPartyError) -> Data

    /// Returns a device of a user; `nil` if it is not registered.
    func device(_ device: LoginName, of user: LoginName) async throws(RelyingPartyError) -> RegisteredDevice?

    /// Registers a device, or replaces its key if it is already registered for the same user.
    ///
    /// The same step uses up the challenge with this nonce, and checks `condition` if there is one. A simultaneous
    /// revocation takes effect either before the registration, which then fails, or after it, and then also removes the
    /// new device.
    func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration

    /// Uses up the challenge with this nonce, records that a device was used, and writes the `audit` entry, in one
    /// step.
    ///
    /// The nonce is `nil` if ``use(_:audit:)`` has already used the challenge.
    func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> SigningIn

    /// Uses up the challenge with this nonce and writes the `audit` entry; returns `false` without any effect if the
    /// challenge was used before.
    func use(_ nonce: Nonce, audit: AuditEntry?) async throws(RelyingPartyError) -> Bool

    /// Returns the devices of a user, oldest first.
    func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice]

    /// Returns whether this key belongs to the device.
    func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool

    /// Changes the display name of a device of the audit entry's user; returns `false` if the device is not registered.
    func rename(
        _ device: LoginName,
        to name: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool

    /// Records that an operator approved a device of the audit entry's user, and writes the audit entry; returns
    /// `false` if the device is not registered with this key.
    func approve(
        _ device: LoginName,
        keyID: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool

    /// Removes a device of the audit entry's user, or all of them if `device` is `nil`.
    ///
    /// It writes one audit entry for each removed device, with the device's name, and returns the names.
    func revoke(_ device: LoginName?, audit: AuditEntry) async throws(RelyingPartyError) -> [LoginName]

    /// Writes an audit log entry.
    func record(_ entry: AuditEntry) async throws(RelyingPartyError)

    /// Returns the newest entries of the audit log, newest first; if `user` is `nil`, it returns those of all users.
    func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry]

    /// Removes old nonces, expired counters, and audit log entries past their retention; the limit on the number of
    /// entries per user is applied only to `user`.
    ///
    /// It removes at most `count` rows of each type, and returns whether more rows may be left.
    func purge(
        keeping audit: AuditRetention,
        of user: LoginName?,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool

    /// Returns whether ``use(_:audit:)`` has used this nonce.
    func isUsed(_ nonce: Nonce) async throws(RelyingPartyError) -> Bool

    /// Returns a small document of the server, such as its keys; `nil` if it does not exist.
    ///
    /// Names have 1 to 256 bytes.
    func document(_ name: String) async throws(RelyingPartyError) -> Data?

    /// Returns the names of documents that start with a prefix and come after the given name, sorted byte by byte.
    func documentNames(
        withPrefix prefix: String,
        after name: String,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [String]

    /// Writes a document if it has not changed since the caller read it; a value of `nil` means that the document does
    /// not exist.
    ///
    /// It returns `false` without any effect if the document has changed.
    func setDocument(
        _ name: String,
        to data: Data?,
        ifWas old: Data?
    ) async throws(RelyingPartyError) -> Bool
}

/// The behavior of a store if its database is missing.
public enum MissingDatabase: Sendable, Hashable {
    /// No database is created, and opening fails.
    ///
    /// If a path is wrong or a volume is not mounted, a server with an empty database would report every device's key
    /// as unknown.
    case refuse
    /// An empty database is created, for the initial setup of a server.
    case create
}

/// The retention of audit log entries in a store.
///
/// Users cannot displace each other's entries, and entries that outsiders can cause do not displace any others.
public struct AuditRetention: Sendable, Hashable {
    /// The number of seconds for which an entry is stored.
    public var seconds = 400 * 86_400
    /// The maximum number of entries for each user, and for the server; the oldest are removed.
    public var perUser = 10_000
    /// The maximum number of entries for refused passwords, counted for all names together; the oldest are removed.
    public var refusedPasswords = 100_000

    /// Creates the default retention.
    public init() {}
}

/// The use of a challenge.
public enum ChallengeUse: String, Sendable, Hashable, CaseIterable {
    /// An assertion that registers a key.
    case enable
    /// An assertion that signs in.
    case login
    /// A bare signature that signs in.
    case raw
}

/// A bucket for counting attempts: a row in the store, with the end of its window.
public struct RateBucket: Sendable, Hashable {
    /// The name of the bucket, at most 600 bytes, without control characters other than line feeds.
    public let key: String
    /// The number of attempts allowed in a window; 0 forbids all attempts.
    public let count: Int
    /// The window's length in seconds.
    public let seconds: Int

    /// Creates a bucket; numbers out of range are clamped, with a maximum window of one year.
    public init(key: String, count: Int, seconds: Int) {
        self.key = key
        self.count = max(0, count)
        self.seconds = min(max(1, seconds), 31_536_000)
    }
}

/// The result of a sign-in in the store.
public enum SigningIn: Sendable, Hashable {
    /// The user signed in.
    case signedIn
    /// The challenge was used before; nothing was changed.
    case challengeUsed
    /// The device is no longer registered with this key; the challenge is used up.
    case unknownKey
}

/// A condition on how a user was authenticated, which must still be met when the user's device is registered.
public enum RegistrationCondition: Sendable, Hashable {
    /// This device of the same user still has this key.
    case device(LoginName, keyID: String)
    /// The server's document with this name still has this content.
    case document(String, Data)
}

/// The result of registering a device.
public enum Registration: Sendable, Hashable {
    /// The device is registered.
    case registered
    /// The challenge was used before.
    case challengeUsed
    /// The key belongs to another user or another device.
    case keyInUse
    /// The user already has the maximum number of devices.
    case tooManyDevices
    /// The condition is not met.
    case conditionFailed
}

/// The operations that are waiting for a store's database at one moment, either for a connection or for another write.
public struct StoreWait: Sendable, Equatable {
    /// The number of waiting operations.
    public var operations: Int
    /// The time for which the first of them has been waiting; zero if no operation is waiting.
    public var longest: Duration

    /// Creates a value; the default is that nothing is waiting.
    public init(operations: Int = 0, longest: Duration = .zero) {
        self.operations = operations
        self.longest = longest
    }
}

/// A list of the waiting operations, with their arrival times.
final class WaitingOperations: Sendable {
    private struct State {
        var next = 0
        var arrivals: [Int: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// Adds an operation; returns its number.
    func add() -> Int {
        state.withLock { state in
            state.next += 1
            state.arrivals[state.next] = .now
            return state.next
        }
    }

    /// Removes an operation that is no longer waiting; does nothing if it was already removed.
    func remove(_ number: Int) { state.withLock { _ = $0.arrivals.removeValue(forKey: number) } }

    /// The operations that are currently waiting.
    var now: StoreWait {
        state.withLock { state in
            guard let first = state.arrivals.values.min() else { return StoreWait() }
            return StoreWait(operations: state.arrivals.count, longest: .now - first)
        }
    }
}
