// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Foundation
internal import LoginAssertion
internal import Vault

/// What this device keeps for one user of one server: its name there, and its key.
///
/// It is one value, written at once, so that no end of the process leaves a part of it. While a key is being made known
/// to the server it stands beside the one that is known: whichever of both the server has, the next attempt finds it.
struct LoginRecord: Codable, Sendable, Hashable {
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
    /// A key that was sent to the server, and of which no answer came yet.
    var pending: Key?

    /// A device without a key.
    init() { device = Base64URL.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// The keys that the server may have, the newest first.
    var keys: [Key] { [pending, key].compactMap(\.self) }

    /// The record once the server has shown that it has this key.
    func knowing(_ key: Key) -> LoginRecord {
        var record = self
        record.key = key
        record.pending = nil
        return record
    }

    /// The record without a key that the server does not have.
    ///
    /// What the device is called stays: the next key takes the place of this one at the server, where it may still be listed.
    func forgetting(_ key: Key) -> LoginRecord {
        var record = self
        if record.pending == key { record.pending = nil }
        if record.key == key { record.key = nil }
        return record
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
