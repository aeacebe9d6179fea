// SPDX-License-Identifier: Apache-2.0

package import Foundation
import StateStore

/// A sealed item that no chip has sealed, for tests of apps: a name for what a test's own vault keeps in memory.
///
/// Its bytes read back as a ``SealedItem`` so that whoever keeps items stores it as any other. No vault opens it: to
/// one with a chip it is `itemTampered`.
package struct PretendedItem: Sendable, Hashable {
    package let kind: ItemKind
    package let profile: String
    package let access: AccessControl
    package let publicKey: Data?
    package let id: UUID

    private static let start = Data("whorl pretended item v1\n".utf8)

    package init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, id: UUID) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.id = id
    }

    /// What its keeper stores, and what it tells of it.
    package var sealed: SealedItem {
        var bytes = ByteWriter(PretendedItem.start)
        for part in [Data(profile.utf8), access.encoded, publicKey ?? Data(), Data(id.uuidString.utf8)] {
            bytes.append(sized: part)
        }
        return SealedItem(
            kind: kind,
            profile: profile,
            access: access,
            publicKey: publicKey,
            encoded: bytes.data
        )
    }

    /// `nil` for anything that ``sealed`` does not give.
    package init?(encoded: Data) {
        guard encoded.count <= 4096, encoded.starts(with: PretendedItem.start) else { return nil }
        var bytes = ByteReader(encoded.dropFirst(PretendedItem.start.count))
        guard let profile = bytes.sized().flatMap({ String(data: $0, encoding: .utf8) }),
            let access = bytes.sized().flatMap({ AccessControl(encoded: $0) }),
            let publicKey = bytes.sized(), [0, 65].contains(publicKey.count),
            let id = bytes.sized().flatMap({ UUID(uuidString: String(decoding: $0, as: UTF8.self)) }),
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
