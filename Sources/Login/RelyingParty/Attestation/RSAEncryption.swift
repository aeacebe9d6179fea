// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation

/// Encryption with a 2,048-bit RSA key and the exponent 65,537, as decrypted by a TPM: RSAES-OAEP with SHA-256 and a
/// label.
///
/// Source: RFC 8017, 7.1.1 and B.2.1.
struct RSAEncryption: Sendable {
    private static let digest = SHA256.byteCount
    /// The maximum size of a message, in bytes.
    static let longest = MontgomeryModulus.size - 2 * digest - 2

    private let modulus: MontgomeryModulus

    /// Creates a key from a modulus of 256 bytes; returns `nil` if it is not a valid modulus.
    init?(modulus: Data) {
        guard let modulus = MontgomeryModulus(modulus) else { return nil }
        self.modulus = modulus
    }

    /// Encrypts a message; returns `nil` if it is too long, or the seed does not have 32 bytes.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - label: The label, required for decryption.
    ///   - seed: 32 random bytes, used only once.
    /// - Returns: 256 bytes.
    func encrypt(_ message: Data, label: Data, seed: Data) -> Data? {
        guard message.count <= Self.longest, seed.count == Self.digest else { return nil }
        var block = Data(SHA256.hash(data: label))
        block += Data(count: Self.longest - message.count) + [1] + message
        let masked = Self.combined(block, Self.mask(seed, count: block.count))
        let maskedSeed = Self.combined(seed, Self.mask(masked, count: Self.digest))
        return modulus.power65537(of: Data([0]) + maskedSeed + masked)
    }

    /// Returns the mask of MGF1 with SHA-256.
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

/// Arithmetic modulo an odd 2,048-bit number, for the public operation of RSA.
///
/// Swift Crypto supports OAEP only with an empty label, but a TPM requires a different one. It does not offer RSA
/// without padding either. The numbers are public keys and random values used once, so timing reveals nothing useful;
/// still, no step depends on their bits.
///
/// Source: P. L. Montgomery, "Modular Multiplication Without Trial Division"; the order of steps is CIOS of Koç, Acar
/// and Kaliski.
struct MontgomeryModulus: Sendable {
    /// The size of the numbers in bytes.
    static let size = 256
    private static let words = size / 8

    /// The modulus, least significant word first.
    private let modulus: [UInt64]
    /// -1 divided by the modulus, modulo 2⁶⁴.
    private let inverse: UInt64
    /// The square of R = 2²⁰⁴⁸ modulo the modulus.
    private let square: [UInt64]

    /// Creates a modulus from bytes, most significant byte first; returns `nil` unless it is odd and has all 2,048
    /// bits.
    init?(_ bytes: Data) {
        guard bytes.count == Self.size, let first = bytes.first, first >= 0x80, let last = bytes.last,
            last & 1 == 1
        else { return nil }
        let modulus = Self.words(of: bytes)
        self.modulus = modulus
        // Each step doubles the number of correct bits, starting from the three of the number itself.
        var inverse = modulus[0]
        for _ in 0..<5 { inverse &*= 2 &- modulus[0] &* inverse }
        self.inverse = 0 &- inverse
        // R modulo a number between R/2 and R is the difference; doubled 2,048 times, it is the square.
        var square = Self.difference(Array(repeating: 0, count: Self.words), modulus).words
        for _ in 0..<Self.size * 8 { square = Self.doubled(square, modulo: modulus) }
        self.square = square
    }

    /// Returns a number raised to the power of 65,537; the number must be less than the modulus.
    func power65537(of bytes: Data) -> Data {
        let base = product(Self.words(of: bytes), square)
        var power = base
        for _ in 0..<16 { power = product(power, power) }
        power = product(power, base)
        let one: [UInt64] = [1] + Array(repeating: 0, count: Self.words - 1)
        return Data(
            product(power, one).reversed().flatMap { word in
                withUnsafeBytes(of: word.bigEndian) { Array($0) }
            }
        )
    }

    /// Returns a · b / R, less than the modulus; both numbers must be less than the modulus.
    private func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var sum = [UInt64](repeating: 0, count: Self.words)
        var top: UInt64 = 0
        for factor in right {
            let (middle, over) = Self.add(left, times: factor, to: &sum, top)
            // The multiple of the modulus that makes the lowest word zero.
            let (highest, more) = Self.add(modulus, times: sum[0] &* inverse, to: &sum, middle)
            sum.removeFirst()
            sum.append(highest)
            top = over &+ more
        }
        return Self.reduced(sum, top, modulo: modulus)
    }

    /// Adds a product to a sum, with the given value in the next higher word; returns that word and the carry.
    private static func add(
        _ number: [UInt64],
        times factor: UInt64,
        to sum: inout [UInt64],
        _ top: UInt64
    ) -> (top: UInt64, over: UInt64) {
        var carry: UInt64 = 0
        for index in number.indices {
            var (high, low) = number[index].multipliedFullWidth(by: factor)
            var isOver: Bool
            (low, isOver) = low.addingReportingOverflow(carry)
            high &+= isOver ? 1 : 0
            (sum[index], isOver) = sum[index].addingReportingOverflow(low)
            carry = high &+ (isOver ? 1 : 0)
        }
        let (word, isOver) = top.addingReportingOverflow(carry)
        return (word, isOver ? 1 : 0)
    }

    private static func doubled(_ number: [UInt64], modulo modulus: [UInt64]) -> [UInt64] {
        var carry: UInt64 = 0
        let words = number.map { word in
            defer { carry = word >> 63 }
            return word << 1 | carry
        }
        return reduced(words, carry, modulo: modulus)
    }

    /// Returns a number less than twice the modulus, minus the modulus unless it is already less.
    private static func reduced(_ number: [UInt64], _ top: UInt64, modulo modulus: [UInt64]) -> [UInt64] {
        let (less, borrow) = difference(number, modulus)
        // All bits set if the number was not smaller.
        let mask = 0 &- (top | (borrow ^ 1))
        return zip(number, less).map { $0 & ~mask | $1 & mask }
    }

    private static func difference(_ left: [UInt64], _ right: [UInt64]) -> (words: [UInt64], borrow: UInt64) {
        var borrow: UInt64 = 0
        let words = zip(left, right).map { left, right in
            let (first, isUnder) = left.subtractingReportingOverflow(right)
            let (second, isUnderToo) = first.subtractingReportingOverflow(borrow)
            borrow = isUnder || isUnderToo ? 1 : 0
            return second
        }
        return (words, borrow)
    }

    private static func words(of bytes: Data) -> [UInt64] {
        let all = Array(bytes)
        return stride(from: size, to: 0, by: -8).map { end in
            all[end - 8..<end].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
