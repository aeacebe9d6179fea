// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion
internal import Synchronization

/// A store of a server's devices, answered challenges and audit log.
///
/// Each operation is atomic, whatever other instances do at the same time. A change of devices or documents is on the
/// disk before the operation returns. A challenge is answered once: if a power failure may lose an answer, the store
/// has another ``challengeKey()`` afterwards. All times are seconds since 1970, from the caller's clock.
///
/// Every operation throws only ``RelyingPartyError/Code/store``. An operation that throws may have taken effect all the
/// same, if the reply of a database was lost; an operation that returns has taken effect once.
public protocol RelyingPartyStore: Sendable {
    /// The operations that wait for the database now: for a connection of a pool, or for the end of another's write.
    var waiting: StoreWait { get }

    /// Counts a try; returns the seconds to wait if the limit is reached, and `nil` otherwise.
    func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int?

    /// Takes back a try that ``count(_:at:)`` has counted in the same window.
    func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError)

    /// Returns the key that seals challenges: 32 random bytes, the same for all instances.
    ///
    /// It becomes another one whenever the store may have lost the challenges that were answered; all that were issued
    /// before are worth nothing then.
    func challengeKey() async throws(RelyingPartyError) -> Data

    /// Returns a device of a user; `nil` if it is not registered.
    func device(_ device: LoginName, of user: LoginName) async throws(RelyingPartyError) -> RegisteredDevice?

    /// Registers a device; if the same device of the same user is registered, it gets the new key.
    ///
    /// The same step uses up the challenge with this nonce, and checks `condition`, if one is given. A revocation at the same time takes effect either before, and
    /// nothing is registered, or after, and removes the new device too.
    func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration

    /// Uses up the challenge with this nonce, records that a device was used, and writes `audit`, in one step.
    ///
    /// The nonce is `nil` if ``use(_:audit:)`` has used the challenge up before.
    func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> SigningIn

    /// Uses up the challenge with this nonce, and writes `audit`; it returns `false`, and does nothing, if the challenge
    /// was used before.
    func use(_ nonce: Nonce, audit: AuditEntry?) async throws(RelyingPartyError) -> Bool

    /// Returns the devices of a user, the oldest first.
    func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice]

    /// Whether this key is the device's.
    func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool

    /// Changes the name for people of a device of the audit entry's user; returns `false` if it is not registered.
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
    /// It writes the entry for each device that it removed, with that device's name, and returns these names.
    func revoke(_ device: LoginName?, audit: AuditEntry) async throws(RelyingPartyError) -> [LoginName]

    /// Writes a line of the audit log.
    func record(_ entry: AuditEntry) async throws(RelyingPartyError)

    /// Returns the newest lines of the audit log, the newest first; of all users if `user` is `nil`.
    func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry]

    /// Removes the nonces of challenges that have long expired, expired counts, and lines of the audit log that are not
    /// kept: of the lines of one user beyond a number only if `user` is given.
    ///
    /// It removes at most `count` rows of each kind, and returns whether more may be left.
    func purge(
        keeping audit: AuditRetention,
        of user: LoginName?,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool

    /// Whether ``use(_:audit:)`` has used this nonce.
    func isUsed(_ nonce: Nonce) async throws(RelyingPartyError) -> Bool

    /// Returns a small document of the server's own, such as its keys; `nil` if it does not exist.
    ///
    /// Names have 1 to 256 bytes.
    func document(_ name: String) async throws(RelyingPartyError) -> Data?

    /// Returns the names of documents that begin with a prefix and come after a name, byte by byte, in their order.
    func documentNames(
        withPrefix prefix: String,
        after name: String,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [String]

    /// Writes a document if it still is what the caller has seen; `nil` stands for a document that does not exist.
    ///
    /// It returns `false`, and does nothing, if the document has changed.
    func setDocument(
        _ name: String,
        to data: Data?,
        ifWas old: Data?
    ) async throws(RelyingPartyError) -> Bool
}

/// The action if the database that a store opens is missing.
public enum MissingDatabase: Sendable, Hashable {
    /// No database is made, and opening fails.
    ///
    /// A server that runs with an empty database, because a path is wrong or a volume is not mounted, would tell every
    /// device that it does not know its key.
    case refuse
    /// An empty database is made: for the first setup of a server.
    case create
}

/// The lines of the audit log that a store keeps.
///
/// No user pushes out the lines of another one, and what strangers can cause pushes out nothing else.
public struct AuditRetention: Sendable, Hashable {
    /// The time that a line is kept, in seconds.
    public var seconds = 400 * 86_400
    /// The maximum number of lines of one user, and of the server's own; the oldest are removed.
    public var perUser = 10_000
    /// The maximum number of lines of refused passwords, in all names together; the oldest are removed.
    public var refusedPasswords = 100_000

    /// Makes the default retention.
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

/// A bucket in which tries are counted: a row of the store, with the time when its window ends.
public struct RateBucket: Sendable, Hashable {
    /// The name of the bucket, at most 600 bytes, without control characters other than line feeds.
    public let key: String
    /// The number of tries that are allowed in a window, 0 for none.
    public let count: Int
    /// The window's length in seconds.
    public let seconds: Int

    /// Makes a bucket; a number out of range becomes the nearest one that a limit can have, for a window a year.
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
    /// The challenge was answered before; nothing else was done.
    case challengeUsed
    /// The device is not registered with this key any longer; the challenge is used up.
    case unknownKey
}

/// A condition that must still hold when a device is registered: the proof that its user has given for it.
public enum RegistrationCondition: Sendable, Hashable {
    /// This device of the same user has this key.
    case device(LoginName, keyID: String)
    /// The server's document of this name has this content.
    case document(String, Data)
}

/// The result of registering a device.
public enum Registration: Sendable, Hashable {
    /// The device is registered.
    case registered
    /// The challenge was answered before.
    case challengeUsed
    /// The key belongs to another user or another device.
    case keyInUse
    /// The user already has the maximum number of devices.
    case tooManyDevices
    /// The condition does not hold.
    case conditionFailed
}

/// The operations of a store that wait for its database at one moment: for a connection, or for another's write.
public struct StoreWait: Sendable, Equatable {
    /// The number of operations that wait.
    public var operations: Int
    /// The time that the first of them has waited; zero if none waits.
    public var longest: Duration

    /// Makes a value; without arguments, none waits.
    public init(operations: Int = 0, longest: Duration = .zero) {
        self.operations = operations
        self.longest = longest
    }
}

/// A list of the operations that wait, each with the time of its arrival.
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

    /// Removes an operation that waits no longer; does nothing if it was removed before.
    func remove(_ number: Int) { state.withLock { _ = $0.arrivals.removeValue(forKey: number) } }

    /// The operations that wait now.
    var now: StoreWait {
        state.withLock { state in
            guard let first = state.arrivals.values.min() else { return StoreWait() }
            return StoreWait(operations: state.arrivals.count, longest: .now - first)
        }
    }
}
