// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LoginAssertion
internal import WhorlService

/// The record of one user of one server on this device: the server's name for the device, and the device's keys.
///
/// It is a single value that is written atomically, so that no part of it can be lost. Keys that are being registered
/// with the server are stored in addition to the registered one, so that the next attempt finds whichever key the
/// server has.
struct LoginRecord: Sendable, Hashable {
    /// A key in the TPM.
    struct Key: Codable, Sendable, Hashable {
        /// The sealed item, which is not secret.
        var item: Data
        /// The set of fingers that the key was created for, as the domain state for the program.
        var fingers: Data?
        /// The display name of the device on the server.
        var name: String
        /// The time when the server accepted the key; `nil` if it is not known to have done so.
        var enabledAt: Date?
    }

    /// A key that the server refused.
    ///
    /// The server may be at fault, for example because it temporarily uses another database. The key is tried again,
    /// and is not deleted until the server has accepted another.
    struct Refused: Codable, Sendable, Hashable {
        var key: Key
        /// The reason for the refusal, as the raw value of a ``LoginError/Reason``.
        var reason: String
    }

    /// The server's name for the device: 16 random bytes in Base64url, the same for each new key.
    var device: String
    /// The key that the server has accepted.
    var key: Key?
    /// The keys that were sent to the server and have not received a response, newest first.
    private(set) var pending: [Key] = []
    /// The keys that the server has refused since it last accepted one, newest first.
    private(set) var refused: [Refused] = []

    /// The maximum number of pending keys, and also of refused keys; beyond it, the oldest key is dropped.
    static let mostPending = 4

    /// Creates the record of a device without a key.
    init(device: String) { self.device = device }

    /// Returns a name for a new device.
    static func newDevice() -> String { Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The keys that the server may have, newest first, followed by the refused ones.
    var keys: [Key] { pending + [key].compactMap(\.self) + refused.map(\.key) }

    /// Whether the record has a key that the server has not refused.
    var isLive: Bool { key != nil || !pending.isEmpty }

    /// Returns the record to store before this key is sent to the server.
    func trying(_ key: Key) -> LoginRecord {
        var record = self
        record.pending = Array(([key] + pending).prefix(Self.mostPending))
        return record
    }

    /// Returns the record after the server has confirmed this key; `nil` if the key was neither pending nor refused.
    ///
    /// On the server, the key has replaced older and refused keys. A newer key may have arrived there since then, and
    /// stays pending.
    func knowing(_ key: Key) -> LoginRecord? {
        let place = pending.firstIndex { $0.item == key.item }
        guard place != nil || refused.contains(where: { $0.key.item == key.item }) else { return nil }
        var record = self
        record.key = key
        if let place { record.pending = Array(pending[..<place]) }
        record.refused = []
        return record
    }

    /// Returns the record without a key that has become permanently unusable.
    ///
    /// The device keeps its name, so that the next key replaces this one on the server, where it may still be listed.
    func forgetting(_ key: Key) -> LoginRecord {
        var record = self
        record.pending.removeAll { $0.item == key.item }
        record.refused.removeAll { $0.key.item == key.item }
        if record.key?.item == key.item { record.key = nil }
        return record
    }

    /// Returns the record with a key marked as refused by the server.
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
        // In an older record with one pending key, this is the key itself.
        if let one = try? members.decodeIfPresent(Key.self, forKey: .pending) {
            pending = [one]
        } else {
            pending = try members.decodeIfPresent([Key].self, forKey: .pending) ?? []
        }
        refused = try members.decodeIfPresent([Refused].self, forKey: .refused) ?? []
    }
}

/// A key of a record, with its sealed item and public key.
struct LoginKeyPair {
    let record: LoginRecord.Key
    let item: SealedItem
    let key: LoginKey

    /// Parses a key; returns `nil` if it does not belong to this service.
    init?(_ record: LoginRecord.Key, of service: some ServiceAsker) {
        guard let item = try? service.sealedItem(encoded: record.item),
            let key = item.publicKey.flatMap({ LoginKey(x963: $0) })
        else { return nil }
        self.record = record
        self.item = item
        self.key = key
    }
}
