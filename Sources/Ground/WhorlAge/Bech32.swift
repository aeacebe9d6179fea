// SPDX-License-Identifier: Apache-2.0

/// The text encoding of age's recipients and identities.
///
/// Unlike BIP 173, age does not limit the length to 90 characters; ``longest`` is the limit here.
enum Bech32 {
    /// The maximum number of characters.
    static let longest = 16_384

    private static let digits = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    /// The value of each lower-case character; 255 for others.
    private static let values: [UInt8] = (0..<128).map { character in
        digits.firstIndex(of: UInt8(character)).map { UInt8($0) } ?? 255
    }

    /// Encodes bytes, in the case of the prefix.
    static func encode(_ bytes: some Sequence<UInt8>, prefix: String) -> String {
        let isUpper = prefix.utf8.contains { 0x41...0x5A ~= $0 }
        let lower = prefix.lowercased()
        let values = regrouped(bytes, from: 8, to: 5, fillsUp: true) ?? []
        let sum = checksum(expanded(lower) + values + [UInt8](repeating: 0, count: 6)) ^ 1
        let check = (0..<6).map { UInt8(sum >> (5 * (5 - $0)) & 31) }
        let text = lower + "1" + String(decoding: (values + check).map { digits[Int($0)] }, as: UTF8.self)
        return isUpper ? text.uppercased() : text
    }

    /// Decodes a text with this prefix; returns `nil` if it is anything else.
    ///
    /// The text must have the case of the prefix.
    static func decode(_ text: String, prefix: String) -> [UInt8]? {
        guard text.utf8.count <= longest, text.utf8.starts(with: (prefix + "1").utf8) else { return nil }
        let rest = text.utf8.dropFirst(prefix.utf8.count + 1)
        let isUpper = prefix.utf8.contains { 0x41...0x5A ~= $0 }
        var values: [UInt8] = []
        for character in rest {
            let isOther = isUpper ? 0x61...0x7A ~= character : 0x41...0x5A ~= character
            guard character < 128, !isOther else { return nil }
            let value = Self.values[Int(0x41...0x5A ~= character ? character | 0x20 : character)]
            guard value != 255 else { return nil }
            values.append(value)
        }
        guard values.count >= 6, checksum(expanded(prefix.lowercased()) + values) == 1 else { return nil }
        return regrouped(values.dropLast(6), from: 5, to: 8, fillsUp: false)
    }

    /// Returns groups of bits as groups of another size; `nil` if bits are left over that are not a short row of zeros.
    private static func regrouped(
        _ groups: some Sequence<UInt8>,
        from old: Int,
        to new: Int,
        fillsUp: Bool
    ) -> [UInt8]? {
        var (bits, count, result) = (0, 0, [UInt8]())
        for group in groups {
            bits = (bits << old | Int(group)) & 0xFFF
            count += old
            while count >= new {
                count -= new
                result.append(UInt8(bits >> count & (1 << new - 1)))
            }
        }
        let rest = bits & (1 << count - 1)
        if fillsUp {
            if count > 0 { result.append(UInt8(rest << (new - count))) }
            return result
        }
        return count < old && rest == 0 ? result : nil
    }

    private static func expanded(_ prefix: String) -> [UInt8] {
        prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
    }

    private static func checksum(_ values: [UInt8]) -> UInt32 {
        let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        return values.reduce(1) { sum, value in
            let high = sum >> 25
            let next = (sum & 0x1ff_ffff) << 5 ^ UInt32(value)
            return generator.indices.reduce(next) { high >> $1 & 1 == 1 ? $0 ^ generator[$1] : $0 }
        }
    }
}
