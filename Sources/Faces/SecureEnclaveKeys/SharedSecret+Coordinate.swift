// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import SecretMemory

extension SharedSecret {
    /// The library's own type around an X coordinate that the chip has computed.
    ///
    /// The library makes a secret by an agreement of its own alone. So it agrees once more: the key 1 and a point agree on
    /// the point's X.
    ///
    /// - Throws: for 32 bytes that are the X coordinate of no point.
    init(coordinate: SecretBox) throws {
        let one = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(count: 31) + [1])
        // Either of the two points with this X will do.
        var point = coordinate.bytes.withUnsafeBytes { Data([2]) + $0 }
        defer { point.resetBytes(in: 0..<point.count) }
        self = try one.sharedSecretFromKeyAgreement(with: .init(compressedRepresentation: point))
    }
}
