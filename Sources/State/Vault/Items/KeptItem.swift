// SPDX-License-Identifier: Apache-2.0

import Foundation
import TPM

/// An item wherever it lies, in the vault's table or with a keeper of its own: what its use takes.
protocol KeptItem: Sendable {
    /// Whose item it is, and what it is called.
    var owner: ItemOwner { get }
    /// What opens it.
    var access: AccessControl { get }
    /// What its policy names.
    var binding: ItemBinding { get }
    /// What the chip loads.
    var object: TPMObject { get }
    /// The ciphertext of a large secret.
    var body: Data? { get }
    /// What that ciphertext is bound to.
    var identity: Data { get }
}

/// Whose item it is, and what people call it.
struct ItemOwner: Sendable {
    let profile: String
    /// As in `secret "wifi"`.
    let spoken: String
}

extension ItemID {
    var owner: ItemOwner { ItemOwner(profile: profile, spoken: spoken) }
}

extension KeptItem {
    /// The public half of a key.
    var publicKey: SigningKeyPublic {
        get throws(VaultError) {
            guard let point = object.publicPoint, let key = SigningKeyPublic(point) else {
                throw VaultError(.itemTampered, owner.spoken, cause: "no P-256 key")
            }
            return key
        }
    }
}
