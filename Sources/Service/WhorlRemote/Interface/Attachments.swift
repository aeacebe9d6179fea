// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import WhorlIPC
import WhorlService

/// The descriptors that go beside a message; the message names each by its place.
struct Attachments {
    private(set) var descriptors: [Descriptor] = []

    /// Adds a secret.
    ///
    /// - Returns: Its place.
    /// - Throws: the system's refusal to make a memory file.
    mutating func add(_ secret: SecretBox) throws(SecretDescriptor.Fault) -> Int {
        descriptors.append(try SecretDescriptor.make(secret.bytes))
        return descriptors.count - 1
    }

    /// Adds a secret, if there is one.
    mutating func add(_ secret: SecretBox?) throws(SecretDescriptor.Fault) -> Int? {
        guard let secret else { return nil }
        return try add(secret) as Int
    }

    /// Adds descriptors that were made already.
    mutating func add(_ made: [Descriptor]) { descriptors += made }

    /// Adds an item, whose bytes go beside the message where they are too many for one.
    mutating func add(_ item: SealedItem) throws(SecretDescriptor.Fault) -> AttachedItem {
        guard item.encoded.count > AttachedItem.mostInside else {
            return AttachedItem(item: item, bytes: nil)
        }
        descriptors.append(try SecretDescriptor.make(SecretBytes(copying: item.encoded.bytes)))
        return AttachedItem(item: item.bare, bytes: descriptors.count - 1)
    }
}

/// A sealed item in a message.
struct AttachedItem: Codable, Sendable {
    /// The most bytes of an item that stand in the message itself.
    static let mostInside = 64 << 10

    /// The item; its bytes are empty where they are beside the message.
    let item: SealedItem
    /// The place of the bytes beside the message; `nil` where they are in it.
    let bytes: Int?

    /// Puts the item together.
    ///
    /// - Parameter attached: Returns what lies at a place beside the message.
    /// - Returns: The item with its bytes.
    /// - Throws: what `attached` throws.
    func whole<Failure: Error>(
        _ attached: (Int) throws(Failure) -> SecretBytes
    ) throws(Failure) -> SealedItem {
        guard let bytes else { return item }
        return item.with(try attached(bytes).withUnsafeBytes { Data($0) })
    }
}

extension SealedItem {
    /// The item without its bytes.
    var bare: SealedItem { with(Data()) }

    /// Returns the item with other bytes.
    func with(_ encoded: Data) -> SealedItem {
        SealedItem(kind: kind, profile: profile, access: access, publicKey: publicKey, encoded: encoded)
    }
}
