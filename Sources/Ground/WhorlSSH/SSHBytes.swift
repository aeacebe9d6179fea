// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

extension ByteReader {
    /// Reads a boolean that is 0 or 1.
    ///
    /// RFC 4251, section 5, reads any other value as true but does not allow to store one.
    mutating func flag() -> Bool? {
        switch number(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Reads a string with a number of bytes in a range.
    mutating func string(_ counts: ClosedRange<Int>) -> Bytes.SubSequence? {
        guard let bytes = sized(), counts.contains(bytes.count) else { return nil }
        return bytes
    }

    /// Reads a name: a user's, a host's, or a namespace's.
    ///
    /// A control character in one of them is not an accident, so it is refused here. The text can still contain other
    /// characters that must not be displayed as they are.
    ///
    /// - Returns: `nil` unless the string is UTF-8 of at most 256 bytes, not empty, and without control characters.
    mutating func name() -> String? {
        guard let name = string(1...256).flatMap({ String(utf8: $0) }),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return name
    }

    /// Reads a string that must have exactly one value.
    mutating func constant(_ text: StaticString) -> Bool {
        guard let bytes = sized(), bytes.count == text.utf8CodeUnitCount else { return false }
        return bytes.elementsEqual(text.description.utf8)
    }

    /// Reads a positive integer in its shortest form (`mpint`; RFC 4251, section 5) and returns it in `count` bytes.
    ///
    /// - Returns: `nil` if the integer is zero, negative, written with a needless zero, or too large.
    mutating func positive(count: Int) -> [UInt8]? {
        guard let bytes = string(1...count + 1), let first = bytes.first, first < 0x80 else { return nil }
        let digits = bytes.dropFirst(first == 0 ? 1 : 0)
        // The zero is needed only where the next bit would be a sign.
        guard let top = digits.first, first != 0 || top >= 0x80, digits.count <= count else { return nil }
        return [UInt8](repeating: 0, count: count - digits.count) + digits
    }
}

extension ByteWriter {
    /// Appends a positive integer in its shortest form (`mpint`; RFC 4251, section 5).
    mutating func append(positive digits: some Collection<UInt8>) {
        let digits = digits.drop { $0 == 0 }
        let needsZero = digits.first.map { $0 >= 0x80 } ?? false
        append(sized: (needsZero ? [0] : []) + Array(digits))
    }
}
