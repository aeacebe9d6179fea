// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import WhorlStateStore
package import WhorlService
import WhorlSupport
import WhorlTPM

/// The contents of a ``SealedItem``, which are the data of a row in the vault's table except the name, and a MAC.
///
/// The MAC is computed with a key from the database, so it belongs to one vault. It covers only these bytes. The vault
/// checks the MAC, and this type checks the form.
struct DetachedItem: UsableItem {
    /// The maximum size to read, in bytes.
    ///
    /// It allows for a secret of 1 MiB, and 8 KiB for everything else.
    static let largest = SecretEnvelope.largestSecret + 8192

    private static let start = Data("whorl sealed item v1\n".utf8)
    private static let macSize = 32
    /// The name that the MAC covers in place of a table's name.
    private static let place = "sealed item"

    let profile: String
    let access: AccessControl
    let binding: ItemBinding
    let object: TPMObject
    let body: Data?
    private let mac: Data

    var kind: ItemKind { object.kind == .agreementKey ? .key : .secret }

    var owner: ItemOwner { DetachedItem.owner(kind, of: profile) }

    var identity: Data { DetachedItem.identity(of: profile, access) }

    static func owner(_ kind: ItemKind, of profile: String) -> ItemOwner {
        ItemOwner(profile: profile, spoken: "sealed \(kind.rawValue)")
    }

    /// Returns the data to which a large secret's ciphertext is bound in addition to its own key.
    static func identity(of profile: String, _ access: AccessControl) -> Data {
        var bytes = ByteWriter("whorl sealed item body v1")
        bytes.append(sized: profile)
        bytes.append(sized: access.encoded)
        return Data(bytes.bytes)
    }

    init(of profile: String, _ access: AccessControl, _ made: NewSealedItem, body: Data?, _ seal: RowMAC) {
        self.profile = profile
        self.access = access
        binding = made.binding
        object = made.object
        self.body = body
        mac = seal.code(
            DetachedItem.place,
            [DetachedItem.front(of: profile, access, made.binding, made.object, body)]
        )
    }

    /// The encoded form, which is the start, followed by each part with its size in front (a missing body has no size),
    /// and the MAC.
    var encoded: Data { DetachedItem.front(of: profile, access, binding, object, body) + mac }

    private static func front(
        of profile: String,
        _ access: AccessControl,
        _ binding: ItemBinding,
        _ object: TPMObject,
        _ body: Data?
    ) -> Data {
        var bytes = ByteWriter(start)
        bytes.append(sized: profile)
        bytes.append(sized: access.encoded)
        bytes.append(sized: binding.encoded)
        bytes.append(sized: object.serialized)
        bytes.append(sized: body ?? Data())
        return Data(bytes.bytes)
    }

    /// Decodes an item without checking the MAC, or returns `nil` for anything that ``encoded`` does not produce.
    init?(encoded: Data) {
        guard encoded.count <= DetachedItem.largest, encoded.starts(with: DetachedItem.start) else {
            return nil
        }
        var bytes = ByteReader(encoded.dropFirst(DetachedItem.start.count))
        guard let profile = bytes.text(),
            let access = bytes.sized().flatMap({ AccessControl(encoded: $0) }),
            let binding = bytes.sized().flatMap({ ItemBinding(encoded: $0) }),
            let object = bytes.sized().flatMap({ try? TPMObject(serialized: [UInt8]($0)) }),
            let body = bytes.sized(), let mac = bytes.take(DetachedItem.macSize), bytes.isAtEnd
        else { return nil }
        switch object.kind {
        case .sealed: break
        case .agreementKey: guard body.isEmpty else { return nil }
        case .authority, .signingKey, .attestationKey: return nil
        }
        self.profile = profile
        self.access = access
        self.binding = binding
        self.object = object
        self.body = body.isEmpty ? nil : body
        self.mac = mac
    }

    /// Returns whether this vault has written every byte of the item.
    func isAuthentic(_ seal: RowMAC) -> Bool {
        let front = DetachedItem.front(of: profile, access, binding, object, body)
        return seal.isValid(mac, DetachedItem.place, [front])
    }
}

extension SealedItem {
    /// Decodes stored bytes without a TPM or a vault.
    ///
    /// It is therefore not known whether the item can be unlocked anywhere.
    ///
    /// - Parameter encoded: The bytes that ``encoded`` has produced.
    /// - Throws: `itemTampered` if the bytes do not have the form of a sealed item.
    package init(encoded: Data) throws(ServiceError) {
        guard let item = DetachedItem(encoded: encoded) else {
            throw ServiceError(
                .itemTampered,
                "sealed item",
                cause: "it is not in the format of a sealed item"
            )
        }
        try self.init(item, encoded: encoded)
    }

    init(_ item: DetachedItem, encoded: Data) throws(ServiceError) {
        let publicKey: Data? = item.kind == .key ? try item.publicKey.x963 : nil
        self.init(
            kind: item.kind,
            profile: item.profile,
            access: item.access,
            publicKey: publicKey,
            encoded: encoded
        )
    }
}
