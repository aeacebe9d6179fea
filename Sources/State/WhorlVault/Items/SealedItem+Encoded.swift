// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import WhorlService

extension SealedItem {
    /// Reads stored bytes; neither a chip nor a vault is asked, so it is not known whether the item opens anywhere.
    ///
    /// - Parameter encoded: The bytes that ``encoded`` gave.
    /// - Throws: `itemTampered` for anything without the form of a sealed item.
    package init(encoded: Data) throws(VaultError) {
        guard let item = LooseItem(encoded: encoded) else {
            throw VaultError(.itemTampered, "sealed item", cause: "it does not have the form of one")
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
}
