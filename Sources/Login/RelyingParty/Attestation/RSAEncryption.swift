// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation

/// Encryption to a key of RSA with 2,048 bits and the exponent 65,537, as a TPM decrypts it: RSAES-OAEP with SHA-256, and a
/// label.
///
/// Source: RFC 8017, 7.1.1 and B.2.1.
struct RSAEncryption: Sendable {
    private static let digest = SHA256.byteCount
    /// The longest message, in bytes.
    static let longest = MontgomeryModulus.size - 2 * digest - 2

    private let modulus: MontgomeryModulus

    /// Takes a modulus of 256 bytes; `nil` for what is the modulus of no such key.
    init?(modulus: Data) {
        guard let modulus = MontgomeryModulus(modulus) else { return nil }
        self.modulus = modulus
    }

    /// Encrypts a message; `nil` if it is too long, or the seed does not have 32 bytes.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - label: The label, which the decrypter has to name.
    ///   - seed: 32 random bytes, used once.
    /// - Returns: 256 bytes.
    func encrypt(_ message: Data, label: Data, seed: Data) -> Data? {
        guard message.count <= Self.longest, seed.count == Self.digest else { return nil }
        var block = Data(SHA256.hash(data: label))
        block += Data(count: Self.longest - message.count) + [1] + message
        let masked = Self.combined(block, Self.mask(seed, count: block.count))
        let maskedSeed = Self.combined(seed, Self.mask(masked, count: Self.digest))
        return modulus.power65537(of: Data([0]) + maskedSeed + masked)
    }

    /// MGF1 with SHA-256.
    private static func mask(_ seed: Data, count: Int) -> Data {
        let blocks = (0..<UInt32((count + digest - 1) / digest)).map { counter in
            SHA256.hash(data: seed + withUnsafeBytes(of: counter.bigEndian) { Data($0) })
        }
        return Data(blocks.joined().prefix(count))
    }

    private static func combined(_ left: Data, _ right: Data) -> Data {
        Data(zip(left, right).map { $0 ^ $1 })
    }
}
