// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Canonical JSON: members sorted by name, no white space, no unnecessary escapes (RFC 8785, for objects of strings,
/// integers and such objects).
///
/// A parsed value is encoded again and compared with the input. This detects duplicate members, unknown members,
/// numbers in another notation, and everything else that two parsers might read differently.
enum CanonicalJSON {
    case text(String)
    case number(Int)
    /// An object with ASCII names.
    case object([String: CanonicalJSON])

    /// The JSON text in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): Self.quote(text, to: &bytes)
        case .number(let number): bytes += String(number).utf8
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.quote(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a quoted string (RFC 8785, 3.2.2.2).
    private static func quote(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20: bytes += ((byte < 16 ? #"\u000"# : #"\u00"#) + String(byte, radix: 16)).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// Base64url without padding (RFC 4648, 5), with exactly one valid encoding for each sequence of bytes.
public enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
    /// The value of each character; 255 for characters outside the alphabet.
    private static let numbers: [UInt8] = {
        var numbers = [UInt8](repeating: 255, count: 256)
        for (number, character) in alphabet.enumerated() { numbers[Int(character)] = UInt8(number) }
        return numbers
    }()

    /// Returns the encoded text.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the decoded bytes; `nil` if the text contains padding, white space, other characters, or unused bits
    /// that are not 0.
    ///
    /// No two texts decode to the same bytes, so comparing texts is equivalent to comparing bytes.
    public static func decode(_ text: some Sequence<UInt8>) -> Data? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            let number = numbers[Int(character)]
            guard number < 64 else { return nil }
            bits = bits << 6 | UInt32(number)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return Data(bytes)
    }

    /// Returns the decoded bytes; see ``decode(_:)-swift.type.method``.
    public static func decode(_ text: String) -> Data? { decode(text.utf8) }
}
