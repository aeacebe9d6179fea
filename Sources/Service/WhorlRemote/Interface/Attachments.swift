// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import WhorlIPC
import WhorlService

/// The descriptors that go beside a message; the message names each by its place.
struct Attachments {
    private(set) var descriptors: [Descriptor] = []

    /// Adds a memory file.
    ///
    /// - Returns: Its place.
    /// - Throws: the error of a message that cannot be sent, for want of memory.
    private mutating func add(
        file: @autoclosure () throws(SecretDescriptor.Fault) -> Descriptor
    ) throws(ServiceError) -> Int {
        do throws(SecretDescriptor.Fault) {
            descriptors.append(try file())
        } catch .system(let error) {
            throw ServiceError(.connection(error))
        } catch {
            throw ServiceError(.malformed)
        }
        return descriptors.count - 1
    }

    /// Adds bytes that are no secret.
    mutating func add(_ bytes: [UInt8]) throws(ServiceError) -> Int {
        try add(file: try SecretDescriptor.make(bytes))
    }

    /// Adds a secret.
    mutating func add(_ secret: SecretBox) throws(ServiceError) -> Int {
        try add(file: try SecretDescriptor.make(secret.bytes))
    }

    /// Adds a secret, if there is one.
    mutating func add(_ secret: SecretBox?) throws(ServiceError) -> Int? {
        guard let secret else { return nil }
        return try add(secret) as Int
    }

    /// Adds an item, whose bytes go beside the message where they are too many for one.
    mutating func add(_ item: SealedItem) throws(ServiceError) -> AttachedItem {
        guard item.encoded.count > AttachedItem.mostInside else {
            return AttachedItem(item: item, bytes: nil)
        }
        let place = try add(file: try SecretDescriptor.make(SecretBytes(copying: item.encoded.bytes)))
        return AttachedItem(item: item.bare, bytes: place)
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
