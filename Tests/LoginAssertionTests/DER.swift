// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Signatures as `SEQUENCE { r, s }`, in DER and in forms that only look like it.
enum DER {
    /// The order of P-256.
    static let order = Data([
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ])

    /// The order less a number that is smaller: 32 bytes.
    static func order(minus number: Data) -> Data {
        var borrow = 0
        let digits = zip(order.reversed(), number.reversed()).map { left, right in
            let difference = Int(left) - Int(right) - borrow
            borrow = difference < 0 ? 1 : 0
            return UInt8(truncatingIfNeeded: difference)
        }
        return Data(digits.reversed())
    }

    static func signature(_ r: Data, _ s: Data) -> Data { sequence(integer(r) + integer(s)) }

    /// Forms of BER that mean the same numbers, and what is near them.
    static func otherForms(_ r: Data, _ s: Data) -> [(String, Data)] {
        let (first, second) = (integer(r), integer(s))
        let content = first + second
        let long = Data([0x02, 0x81, UInt8(first.count - 2)]) + first.dropFirst(2)
        let padded = Data([0x02, first[first.startIndex + 1] + 1, 0]) + first.dropFirst(2)
        return [
            ("a long length", Data([0x30, 0x81, UInt8(content.count)]) + content),
            ("a longer length", Data([0x30, 0x82, 0, UInt8(content.count)]) + content),
            ("no length", Data([0x30, 0x80]) + content + [0, 0]),
            ("a long length of r", sequence(long + second)),
            ("a zero before r", sequence(padded + second)),
            ("bytes behind", sequence(content) + [0]),
            ("bytes inside", sequence(content + [0x05, 0x00])),
            ("a third number", sequence(content + second)),
            ("one number", sequence(first)),
            ("a set", Data([0x31]) + sequence(content).dropFirst()),
            ("negative numbers", sequence(plain(r, sign: 0x80) + plain(s, sign: 0x80))),
            ("cut", sequence(content).dropLast()),
            ("empty", Data()),
            ("an empty sequence", Data([0x30, 0])),
            ("a sequence in a sequence", sequence(sequence(content))),
        ]
    }

    private static func sequence(_ content: Data) -> Data { Data([0x30, UInt8(content.count)]) + content }

    private static func integer(_ number: Data) -> Data {
        var digits = Data(number.drop { $0 == 0 })
        if digits.first.map({ $0 > 127 }) ?? true { digits.insert(0, at: digits.startIndex) }
        return Data([0x02, UInt8(digits.count)]) + digits
    }

    /// The bytes as they are, with the sign's bit set.
    private static func plain(_ number: Data, sign: UInt8) -> Data {
        var digits = Data(number)
        digits[digits.startIndex] |= sign
        return Data([0x02, UInt8(digits.count)]) + digits
    }
}
