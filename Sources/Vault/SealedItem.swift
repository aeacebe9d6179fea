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

    package init(kind: ItemKind, profile: String, access: AccessControl, publicKey: Data?, encoded: Data) {
        self.kind = kind
        self.profile = profile
        self.access = access
        self.publicKey = publicKey
        self.encoded = encoded
    }
}
