// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlTPM
import WhorlService

/// An item with all data for its use, whether it is stored in the vault's table or by another keeper.
protocol KeptItem: Sendable {
    /// The item's owner, and the text that names the item.
    var owner: ItemOwner { get }
    /// The access control of the item.
    var access: AccessControl { get }
    /// The objects that the item's policy names.
    var binding: ItemBinding { get }
    /// The object that the chip loads.
    var object: TPMObject { get }
    /// The ciphertext of a large secret.
    var body: Data? { get }
    /// The data that the ciphertext is bound to.
    var identity: Data { get }
}

/// An item's owner, and the text that names the item to people.
struct ItemOwner: Sendable {
    let profile: String
    /// The item's kind and name, for example `secret "wifi"`.
    let spoken: String
}

extension ItemID {
    var owner: ItemOwner { ItemOwner(profile: profile, spoken: spoken) }
}

extension KeptItem {
    /// The public half of a key.
    var publicKey: SigningKeyPublic {
        get throws(VaultError) {
            guard let point = object.publicPoint,
                let key = SigningKeyPublic(x963: Data([4] + point.x + point.y))
            else {
                throw VaultError(.itemTampered, owner.spoken, cause: "no P-256 key")
            }
            return key
        }
    }
}
