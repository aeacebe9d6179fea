// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import WhorlService
internal import WhorlSupport

/// A simulated sealed item: a name for an item that a test's own vault keeps in memory.
///
/// Its bytes are stored like those of any other item. No real vault opens it: a vault with a chip throws
/// `itemTampered`.
struct PretendedItem: Sendable, Hashable {
    let kind: ItemKind
    let profile: String
    let access: AccessControl
    let publicKey: Data?
    let id: UUID

    private static let start = Data("whorl pretended item v1\n".utf8)

    init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, id: UUID) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.id = id
    }

    /// The sealed item that is stored, with its properties.
    var sealed: SealedItem {
        var bytes = ByteWriter(PretendedItem.start)
        for part in [profile, access.text, id.uuidString] { bytes.append(sized: part) }
        bytes.append(sized: publicKey ?? Data())
        return SealedItem(
            kind: kind,
            profile: profile,
            access: access,
            publicKey: publicKey,
            encoded: bytes.data
        )
    }

    /// Reads the bytes of an item; `nil` for bytes that ``sealed`` does not produce.
    init?(encoded: Data) {
        guard encoded.count <= 4096, encoded.starts(with: PretendedItem.start) else { return nil }
        var bytes = ByteReader(encoded.dropFirst(PretendedItem.start.count))
        guard let profile = bytes.text(),
            let access = bytes.text()
                .flatMap({ try? AccessControl($0) }),
            let id = bytes.text().flatMap({ UUID(uuidString: $0) }),
            let publicKey = bytes.sized(), [0, 65].contains(publicKey.count),
            bytes.isAtEnd
        else { return nil }
        self.init(
            kind: publicKey.isEmpty ? .secret : .key,
            profile: profile,
            access: access,
            publicKey: publicKey.isEmpty ? nil : publicKey,
            id: id
        )
    }
}
