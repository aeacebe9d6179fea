// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Foundation
internal import LoginAssertion
internal import Vault

/// What this device keeps for one user of one server: its name there, and its keys.
///
/// It is one value, written at once, so that no end of the process leaves a part of it. Keys that are being made known to
/// the server stand beside the one that is known: whichever of them the server has, the next attempt finds it.
struct LoginRecord: Sendable, Hashable {
    /// One key of the chip.
    struct Key: Codable, Sendable, Hashable {
        /// The sealed item, which is no secret.
        var item: Data
        /// The set of fingers that it was made for, as the program is told it.
        var fingers: Data?
        /// What the server shows of the device.
        var name: String
        /// When the server took it; `nil` while that is not known.
        var enabledAt: Date?
    }

    /// A key that the server refused.
    ///
    /// The server may be the one that is wrong, as where it runs on another database for a while: the key is tried again,
    /// and is kept until the server has taken another.
    struct Refused: Codable, Sendable, Hashable {
        var key: Key
        /// ``LoginError/Reason``, by its name.
        var reason: String
    }

    /// What the server calls the device: 16 random bytes in Base64url, the same for each further key.
    var device: String
    /// The key that the server has taken.
    var key: Key?
    /// Keys that were sent to the server, and of which no answer came yet; the newest first.
    private(set) var pending: [Key] = []
    /// Keys that the server refused since it took the last one; the newest first.
    private(set) var refused: [Refused] = []

    /// As many keys wait for an answer at a time, and as many are kept that were refused; of more the oldest is given up.
    static let mostPending = 4

    /// A device without a key.
    init(device: String) { self.device = device }

    /// What a new device is called.
    static func newDevice() -> String { Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The keys that the server may have, the newest first, and those that it refused behind them.
    var keys: [Key] { pending + [key].compactMap(\.self) + refused.map(\.key) }

    /// Whether there is a key that the server has not refused.
    var isLive: Bool { key != nil || !pending.isEmpty }

    /// The record before this key is sent to the server.
    func trying(_ key: Key) -> LoginRecord {
        var record = self
        record.pending = Array(([key] + pending).prefix(Self.mostPending))
        return record
    }

    /// The record once the server has shown that it has this key; `nil` where it was neither waited for nor refused.
    ///
    /// It has taken the place of older ones there, and of those that were refused. A newer one may have got there since, and
    /// is still waited for.
    func knowing(_ key: Key) -> LoginRecord? {
        let place = pending.firstIndex { $0.item == key.item }
        guard place != nil || refused.contains(where: { $0.key.item == key.item }) else { return nil }
        var record = self
        record.key = key
        if let place { record.pending = Array(pending[..<place]) }
        record.refused = []
        return record
    }

    /// The record without a key that can never be used again.
    ///
    /// What the device is called stays: the next key takes the place of this one at the server, where it may still be listed.
    func forgetting(_ key: Key) -> LoginRecord {
        var record = self
        record.pending.removeAll { $0.item == key.item }
        record.refused.removeAll { $0.key.item == key.item }
        if record.key?.item == key.item { record.key = nil }
        return record
    }

    /// The record with a key set aside that the server refused.
    func refusing(_ key: Key, _ reason: LoginError.Reason) -> LoginRecord {
        guard keys.contains(where: { $0.item == key.item }) else { return self }
        var record = forgetting(key)
        let refused = [Refused(key: key, reason: reason.rawValue)] + record.refused
        record.refused = Array(refused.prefix(Self.mostPending))
        return record
    }
}

extension LoginRecord: Codable {
    private enum CodingKeys: CodingKey { case device, key, pending, refused }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        device = try members.decode(String.self, forKey: .device)
        key = try members.decodeIfPresent(Key.self, forKey: .key)
        // A record of one pending key has the key itself there.
        if let one = try? members.decodeIfPresent(Key.self, forKey: .pending) {
            pending = [one]
        } else {
            pending = try members.decodeIfPresent([Key].self, forKey: .pending) ?? []
        }
        refused = try members.decodeIfPresent([Refused].self, forKey: .refused) ?? []
    }
}

/// A key of a record with what is read out of it.
struct LoginKeyPair {
    let record: LoginRecord.Key
    let item: SealedItem
    let key: LoginKey

    /// `nil` for what is no key of this service's.
    init?(_ record: LoginRecord.Key, of service: any AuthenticationService) {
        guard let item = try? service.sealedItem(encoded: record.item),
            let key = item.publicKey.flatMap({ LoginKey(x963: $0) })
        else { return nil }
        self.record = record
        self.item = item
        self.key = key
    }
}
