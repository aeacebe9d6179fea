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

    /// What the server calls the device: 16 random bytes in Base64url, the same for each further key.
    var device: String
    /// The key that the server has taken.
    var key: Key?
    /// Keys that were sent to the server, and of which no answer came yet; the newest first.
    private(set) var pending: [Key] = []

    /// As many keys wait for an answer at a time; of more the oldest is given up.
    static let mostPending = 4

    /// A device without a key.
    init(device: String) { self.device = device }

    /// What a new device is called.
    static func newDevice() -> String { Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The keys that the server may have, the newest first.
    var keys: [Key] { pending + [key].compactMap(\.self) }

    /// The record before this key is sent to the server.
    func trying(_ key: Key) -> LoginRecord {
        var record = self
        record.pending = Array(([key] + pending).prefix(Self.mostPending))
        return record
    }

    /// The record once the server has shown that it has this key; `nil` where it was not waited for.
    ///
    /// It has taken the place of older ones there. A newer one may have got there since, and is still waited for.
    func knowing(_ key: Key) -> LoginRecord? {
        guard let place = pending.firstIndex(where: { $0.item == key.item }) else { return nil }
        var record = self
        record.key = key
        record.pending = Array(pending[..<place])
        return record
    }

    /// The record without a key that the server does not have.
    ///
    /// What the device is called stays: the next key takes the place of this one at the server, where it may still be listed.
    func forgetting(_ key: Key) -> LoginRecord {
        var record = self
        record.pending.removeAll { $0.item == key.item }
        if record.key?.item == key.item { record.key = nil }
        return record
    }
}

extension LoginRecord: Codable {
    private enum CodingKeys: CodingKey { case device, key, pending }

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
