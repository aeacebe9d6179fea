// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import SecretMemory

extension SharedSecret {
    /// Makes a shared secret of the library's type from an X coordinate that the chip has computed.
    ///
    /// The library makes a shared secret only by its own key agreement. So this repeats one: the key 1 and a point
    /// agree on the point's X.
    ///
    /// - Throws: An error for 32 bytes that are not the X coordinate of a point.
    init(coordinate: SecretBox) throws {
        let one = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(count: 31) + [1])
        // Either of the two points with this X can be used.
        var point = coordinate.bytes.withUnsafeBytes { Data([2]) + $0 }
        defer { point.resetBytes(in: 0..<point.count) }
        self = try one.sharedSecretFromKeyAgreement(with: .init(compressedRepresentation: point))
    }
}
