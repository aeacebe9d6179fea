// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A secret or a key that lies outside of the vault's tables, with whoever keeps it: all that the chip needs to open it.
///
/// It opens on the machine and for the vault that it was made in, and nowhere else. It holds no secret: who reads it
/// learns what kind of item it is and what opens it.
public struct SealedItem: Sendable, Hashable {
    /// Secret or key.
    public let kind: ItemKind
    /// Whose item.
    public let profile: String
    /// What opens it.
    public let access: AccessControl
    /// The public half of a key, as ANSI X9.63 (0x04, X, Y; 65 bytes); `nil` for a secret.
    public let publicKey: Data?
    /// What its keeper stores.
    public let encoded: Data

    /// Takes what a keeper stored; neither a chip nor a vault is asked, so whether it opens anywhere is not known.
    ///
    /// - Parameter encoded: What ``encoded`` gave.
    /// - Throws: `itemTampered` for anything that has not the form of a sealed item.
    public init(encoded: Data) throws(VaultError) {
        guard let item = LooseItem(encoded: encoded) else {
            throw VaultError(.itemTampered, "sealed item", cause: "its form is another one")
        }
        try self.init(item, encoded: encoded)
    }

    init(_ item: LooseItem, encoded: Data) throws(VaultError) {
        let publicKey: Data? =
            switch item.kind {
            case .secret: nil
            case .key: try item.publicKey.x963
            }
        self.init(
            kind: item.kind,
            profile: item.profile,
            access: item.access,
            publicKey: publicKey,
            encoded: encoded
        )
    }

    package init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, encoded: Data) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.encoded = encoded
    }
}
