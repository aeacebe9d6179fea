// SPDX-License-Identifier: Apache-2.0

/// Text as UTF-8 bytes.
///
/// The module does not use `String`, whose tables would make it three times as large.
typealias Bytes = [UInt8]

extension Bytes {
    /// Creates the bytes of a string literal.
    init(_ text: StaticString) {
        self = text.withUTF8Buffer { unsafe Bytes($0) }
    }

    /// Copies a C string up to a limit; `nil` if it is `nil` or longer.
    init?(copying text: UnsafePointer<CChar>?, limit: Int = 4096) {
        guard let text = unsafe text else { return nil }
        var bytes: Bytes = []
        while unsafe text[bytes.count] != 0 {
            guard bytes.count < limit else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: unsafe text[bytes.count]))
        }
        self = bytes
    }

    /// Returns whether the bytes equal a string literal.
    func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            for index in 0..<count where unsafe other[index] != self[index] { return false }
            return true
        }
    }

    /// The value of the decimal digits; `nil` for anything else, and above a billion.
    var number: Int? {
        guard !isEmpty, count <= 9 else { return nil }
        var number = 0
        for byte in self {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    mutating func append(_ text: StaticString) { append(contentsOf: Bytes(text)) }

    /// Appends a non-negative number in decimal digits.
    mutating func append(decimal number: UInt64) {
        var digits: Bytes = []
        var rest = number
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        for digit in digits.reversed() { append(digit) }
    }

    /// Appends a string as JSON, in quotes.
    mutating func append(quoted text: Bytes) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            // PAM's strings can be any bytes. The service has no use for bytes that are not printable ASCII.
            case 0x20..<0x7f: append(byte)
            default: append(UInt8(ascii: "?"))
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// The bytes as a C string: up to the first zero byte, followed by one.
    var terminated: Bytes {
        var text = self
        if let end = firstIndex(of: 0) { text.removeSubrange(end...) }
        text.append(0)
        return text
    }
}
