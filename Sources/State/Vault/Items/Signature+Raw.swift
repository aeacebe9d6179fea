// SPDX-License-Identifier: Apache-2.0

internal import Crypto
package import Foundation

extension Signature {
    /// A signature that another implementation of the service has made.
    ///
    /// - Parameter raw: r and s, 64 bytes; `nil` comes back for anything else.
    package init?(raw: Data) {
        guard (try? P256.Signing.ECDSASignature(rawRepresentation: raw)) != nil else { return nil }
        self.raw = raw
    }
}
