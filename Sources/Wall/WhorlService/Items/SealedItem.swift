// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A TPM-wrapped secret or key that the caller stores.
///
/// It opens only on the machine and for the vault that it was made in. It does not reveal the secret: a reader
/// learns only the kind of item and its access control.
public struct SealedItem: Sendable, Hashable, Codable {
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

    package init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, encoded: Data) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.encoded = encoded
    }
}
