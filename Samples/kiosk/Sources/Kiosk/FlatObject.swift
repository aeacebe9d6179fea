// SPDX-License-Identifier: Apache-2.0

/// A JSON object whose values are texts: all that greetd ever answers.
///
/// The reader of it ends for every input, calls itself never, and takes nothing that it does not know: an object in an
/// object, a number or a second value of one name makes the whole message unreadable.
struct FlatObject {
    private(set) var texts: [String: String] = [:]

    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard reader.take("{") else { return nil }
        if !reader.take("}") {
            repeat {
                guard let name = reader.text(), reader.take(":"), let value = reader.value(),
                    texts.updateValue(value, forKey: name) == nil
                else { return nil }
            } while reader.take(",")
            guard reader.take("}") else { return nil }
        }
        guard reader.isAtEnd else { return nil }
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        private var byte: UInt8? { place < bytes.count ? bytes[place] : nil }

        private mutating func skipSpace() {
            while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { place += 1 }
        }

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return byte == nil
            }
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            skipSpace()
            guard byte == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        /// Reads a text, or `null`, which is read as an empty one.
        mutating func value() -> String? {
            skipSpace()
            if bytes[place...].starts(with: "null".utf8) {
                place += 4
                return ""
            }
            return text()
        }

        mutating func text() -> String? {
            guard take("\"") else { return nil }
            var text: [UInt8] = []
            while let byte {
                place += 1
                switch byte {
                case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escaped() else { return nil }
                    text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                case 0..<0x20: return nil
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func escaped() -> Unicode.Scalar? {
            guard let byte else { return nil }
            place += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{c}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "u"): return pair()
            default: return nil
            }
        }

        /// Reads the digits of `\u`, and those of the second half where the first is one of two.
        private mutating func pair() -> Unicode.Scalar? {
            guard let high = digits() else { return nil }
            guard (0xd800..<0xdc00).contains(high) else { return Unicode.Scalar(high) ?? "\u{fffd}" }
            let rest = place
            guard bytes[place...].starts(with: #"\u"#.utf8) else { return "\u{fffd}" }
            place += 2
            guard let low = digits(), (0xdc00..<0xe000).contains(low) else {
                place = rest
                return "\u{fffd}"
            }
            return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
        }

        private mutating func digits() -> UInt32? {
            guard place + 4 <= bytes.count else { return nil }
            var value: UInt32 = 0
            for byte in bytes[place..<place + 4] {
                guard
                    let digit = Unicode.Scalar(byte).properties.isASCIIHexDigit
                        ? Character(Unicode.Scalar(byte)).hexDigitValue : nil
                else { return nil }
                value = value << 4 | UInt32(digit)
            }
            place += 4
            return value
        }
    }
}
