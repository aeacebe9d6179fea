// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LoginAssertion
internal import WhorlService

/// The record of one user of one server on this device: the device's name there, and its keys.
///
/// It is one value, written at once, so that a process that ends cannot leave a part of it. Keys that are being
/// registered at the server are kept in addition to the registered one: whichever of them the server has, the next
/// attempt finds it.
struct LoginRecord: Sendable, Hashable {
    /// A key in the chip.
    struct Key: Codable, Sendable, Hashable {
        /// The sealed item, which is not secret.
        var item: Data
        /// The set of fingers that it was made for, as the domain state of the program.
        var fingers: Data?
        /// The display name of the device at the server.
        var name: String
        /// The time when the server accepted it; `nil` while that is not known.
        var enabledAt: Date?
    }

    /// A key that the server refused.
    ///
    /// The server may be at fault, for example if it uses another database for a while: the key is tried again, and is
    /// kept until the server has accepted another.
    struct Refused: Codable, Sendable, Hashable {
        var key: Key
        /// The raw value of the ``LoginError/Reason``.
        var reason: String
    }

    /// The server's name of the device: 16 random bytes in Base64url, the same for each further key.
    var device: String
    /// The key that the server has accepted.
    var key: Key?
    /// The keys that were sent to the server and not answered yet, the newest first.
    private(set) var pending: [Key] = []
    /// The keys that the server refused since it accepted the last one, the newest first.
    private(set) var refused: [Refused] = []

    /// The maximum number of pending keys, and of refused keys; if there are more, the oldest is dropped.
    static let mostPending = 4

    /// Makes the record of a device without a key.
    init(device: String) { self.device = device }

    /// Returns a name for a new device.
    static func newDevice() -> String { Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The keys that the server may have, the newest first, followed by those that it refused.
    var keys: [Key] { pending + [key].compactMap(\.self) + refused.map(\.key) }

    /// Whether there is a key that the server has not refused.
    var isLive: Bool { key != nil || !pending.isEmpty }

    /// Returns the record to store before this key is sent to the server.
    func trying(_ key: Key) -> LoginRecord {
        var record = self
        record.pending = Array(([key] + pending).prefix(Self.mostPending))
        return record
    }

    /// Returns the record after the server has confirmed this key; `nil` if the key was neither pending nor refused.
    ///
    /// The key has replaced older ones at the server, and those that were refused. A newer key may have arrived there
    /// since, and stays pending.
    func knowing(_ key: Key) -> LoginRecord? {
        let place = pending.firstIndex { $0.item == key.item }
        guard place != nil || refused.contains(where: { $0.key.item == key.item }) else { return nil }
        var record = self
        record.key = key
        if let place { record.pending = Array(pending[..<place]) }
        record.refused = []
        return record
    }

    /// Returns the record without a key that can never be used again.
    ///
    /// The device keeps its name: the next key replaces this one at the server, where it may still be listed.
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
        // An older record with one pending key has the key itself there.
        if let one = try? members.decodeIfPresent(Key.self, forKey: .pending) {
            pending = [one]
        } else {
            pending = try members.decodeIfPresent([Key].self, forKey: .pending) ?? []
        }
        refused = try members.decodeIfPresent([Refused].self, forKey: .refused) ?? []
    }
}

/// A key of a record, with the sealed item and the public key that are read from it.
struct LoginKeyPair {
    let record: LoginRecord.Key
    let item: SealedItem
    let key: LoginKey

    /// Reads a key; `nil` if it is not a key of this service.
    init?(_ record: LoginRecord.Key, of service: some ServiceAsker) {
        guard let item = try? service.sealedItem(encoded: record.item),
            let key = item.publicKey.flatMap({ LoginKey(x963: $0) })
        else { return nil }
        self.record = record
        self.item = item
        self.key = key
    }
}
