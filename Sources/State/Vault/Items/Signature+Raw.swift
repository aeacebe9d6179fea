// SPDX-License-Identifier: Apache-2.0

internal import Crypto
package import Foundation

extension Signature {
    /// Makes a signature from the bytes of another implementation of the service.
    ///
    /// - Parameter raw: r and s, 64 bytes; anything else gives `nil`.
    package init?(raw: Data) {
        guard (try? P256.Signing.ECDSASignature(rawRepresentation: raw)) != nil else { return nil }
        self.raw = raw
    }
}
