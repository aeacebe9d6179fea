// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// Where a server keeps challenges, devices and its audit log.
///
/// Each operation happens entirely or not at all, whatever other instances do at the same time. What changes devices or
/// documents is on the disk before it returns. A challenge may be lost with the machine's power, but one that was taken
/// never comes back. All times are seconds since 1970, from the caller's clock.
///
/// Every operation throws ``RelyingPartyError/Code/store``, and nothing else. What throws may have happened all the same,
/// where the answer of a database was lost on its way; what answers has happened once.
public protocol RelyingPartyStore: Sendable {
    /// Counts a try; answers how many seconds are to be waited where the limit is reached, and else `nil`.
    func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int?

    /// Takes a try back that ``count(_:at:)`` has counted in the same window.
    func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError)

    /// Counts a try, and keeps a challenge in place of the last one for the same user, device and use.
    ///
    /// `address` counts first, then `device`. A bucket that is `nil` does not count, and one that is full ends it.
    /// Whether there is such a device makes no difference.
    func issue(
        _ challenge: ChallengeRecord,
        address: RateBucket?,
        device: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Issue

    /// Counts a try, takes the challenge with this SHA-256 out, and looks up whose answer is expected.
    ///
    /// The challenge is gone then, also where it was too old.
    func take(
        _ digest: Data,
        address: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Taken

    /// Registers a device; where the same device of the same user is registered, it gets the new key.
    ///
    /// In the same step it looks whether `condition` holds, if there is one: what is revoked at the same time has been
    /// revoked before, and nothing is registered, or takes the new device along.
    func register(
        _ device: RegisteredDevice,
        provided condition: RegistrationCondition?,
        atMost devicesPerUser: Int,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Registration

    /// Notes that a device was used, and writes `audit`.
    ///
    /// It answers `false`, and does nothing, where the device or this key of it is no longer registered.
    func markUsed(
        _ device: RegisteredDevice,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool

    /// The devices of a user, the oldest first.
    func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice]

    /// Whether this key is the device's.
    func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool

    /// Gives a device of the audit entry's user another name for people; `false` where it is not registered.
    func rename(
        _ device: LoginName,
        to name: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool

    /// Has a device of the audit entry's user approved by an operator, with the audit entry; `false` where it is not
    /// registered with this key.
    func approve(
        _ device: LoginName,
        keyID: String,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> Bool

    /// Removes a device of the audit entry's user, or all of them where `device` is `nil`, with their challenges.
    ///
    /// It writes the entry for each device that it removed, with that device's name, and answers which these are.
    func revoke(_ device: LoginName?, audit: AuditEntry) async throws(RelyingPartyError) -> [LoginName]

    /// Writes a line of the audit log.
    func record(_ entry: AuditEntry) async throws(RelyingPartyError)

    /// The newest lines of the audit log, the newest first; of all users where `user` is `nil`.
    func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry]

    /// Removes challenges and counts that are over, and the audit log's oldest lines but for `auditEntries`; of refused
    /// passwords it keeps as many more.
    ///
    /// It removes at most `count` rows of each kind, and answers whether more may be left.
    func purge(
        keeping auditEntries: Int,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool

    /// A small document of the server's own, such as its keys; `nil` where there is none.
    ///
    /// Names have 1 to 256 bytes.
    func document(_ name: String) async throws(RelyingPartyError) -> Data?

    /// Writes a document where it still is what the caller has seen; `nil` stands for none.
    ///
    /// It answers `false`, and does nothing, where it is something else.
    func setDocument(
        _ name: String,
        to data: Data?,
        ifWas old: Data?
    ) async throws(RelyingPartyError) -> Bool
}

/// What is done where the database that a store is to open is not there.
public enum MissingDatabase: Sendable, Hashable {
    /// Nothing is made, and opening fails.
    ///
    /// A server that goes on with an empty database, since a path is wrong or a volume is not mounted, tells every device
    /// that it does not know its key.
    case refuse
    /// An empty one is made: for the first time that a server is set up.
    case create
}

/// What a challenge is for.
public enum ChallengeUse: String, Sendable, Hashable, CaseIterable {
    /// An assertion that makes a key known.
    case enable
    /// An assertion that signs in.
    case login
    /// A bare signature that signs in.
    case raw
}

/// A challenge as the store keeps it.
public struct ChallengeRecord: Sendable, Hashable {
    /// SHA-256 of the challenge, 32 bytes: who reads the database can answer nothing.
    public let digest: Data
    /// For whom.
    public let user: LoginName
    /// For which device; `nil` where any of the user's may answer.
    public let device: LoginName?
    /// For what.
    public let use: ChallengeUse
    /// From when on it is worth nothing.
    public let expiresAt: Int

    /// Describes a challenge.
    public init(digest: Data, user: LoginName, device: LoginName?, use: ChallengeUse, expiresAt: Int) {
        self.digest = digest
        self.user = user
        self.device = device
        self.use = use
        self.expiresAt = expiresAt
    }
}

/// What a try counts for: a row of the store, with the time that its window ends.
public struct RateBucket: Sendable, Hashable {
    /// Whose tries, at most 600 bytes, without control characters but line feeds.
    public let key: String
    /// How many are allowed in a window, 0 for none.
    public let count: Int
    /// The window's length in seconds.
    public let seconds: Int

    /// Describes a bucket; a number that no limit can have becomes the nearest that one can, for a window a year.
    public init(key: String, count: Int, seconds: Int) {
        self.key = key
        self.count = max(0, count)
        self.seconds = min(max(1, seconds), 31_536_000)
    }
}

/// What became of a challenge that was to be kept.
public enum Issue: Sendable, Hashable {
    /// It is kept.
    case issued
    /// A limit is reached; nothing was kept.
    case tooMany(retryAfter: Int)
}

/// What became of a challenge that was to be taken.
public enum Taken: Sendable, Hashable {
    /// It was there and is gone; with the devices that may answer it.
    case taken(ChallengeRecord, [RegisteredDevice])
    /// There is none.
    case unknown
    /// The limit is reached; nothing was looked up.
    case tooMany(retryAfter: Int)
}

/// What has to hold still when a device is registered: what its user has shown for it.
public enum RegistrationCondition: Sendable, Hashable {
    /// This device of the same user has this key.
    case device(LoginName, keyID: String)
    /// The server's document of this name is this.
    case document(String, Data)
}

/// What became of a device that was to be registered.
public enum Registration: Sendable, Hashable {
    /// It is registered.
    case registered
    /// The key is another user's or another device's.
    case keyInUse
    /// The user has as many as one may have.
    case tooManyDevices
    /// The condition does not hold.
    case conditionFailed
}
