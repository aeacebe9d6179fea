// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A TPM-wrapped secret or key that the caller stores.
///
/// It opens only on the machine and for the vault that it was made in. It does not reveal the secret: a reader
/// learns only the kind of item and its access control.
public struct SealedItem: Sendable, Hashable {
    /// The kind of the item: secret or key.
    public let kind: ItemKind
    /// The profile that owns the item.
    public let profile: String
    /// The access control of the item.
    public let access: AccessControl
    /// The public half of a key, as ANSI X9.63 (0x04, X, Y; 65 bytes); `nil` for a secret.
    public let publicKey: Data?
    /// The bytes that the caller stores.
    public let encoded: Data

    /// Reads stored bytes; neither a chip nor a vault is asked, so it is not known whether the item opens anywhere.
    ///
    /// - Parameter encoded: The bytes that ``encoded`` gave.
    /// - Throws: `itemTampered` for anything without the form of a sealed item.
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
