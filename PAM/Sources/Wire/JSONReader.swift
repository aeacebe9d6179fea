// SPDX-License-Identifier: Apache-2.0

/// The error for bytes that are not JSON in a form that the service sends.
struct NotJSON: Error {}

/// A parser of one JSON object, which must be the whole input.
///
/// For every input, it reads only the given bytes, nests up to a limit, and ends with a value or ``NotJSON``.
struct JSONReader {
    /// The maximum size of a login's message in bytes.
    static let longest = 16_384
    /// The maximum nesting depth of objects and lists.
    static let deepest = 16

    private let bytes: Bytes
    private let longest: Int
    private var place = 0

    /// Creates a parser of bytes, up to a maximum number.
    init(_ bytes: Bytes, longest: Int = JSONReader.longest) {
        self.bytes = bytes
        self.longest = longest
    }

    /// Parses an object that is the whole input.
    ///
    /// - Parameter member: Called for each member after its name; it parses the value.
    /// - Throws: ``NotJSON``, including for bytes after the object.
    mutating func whole(
        _ member: (inout JSONReader, Bytes) throws(NotJSON) -> Void
    ) throws(NotJSON) {
        guard bytes.count <= longest else { throw NotJSON() }
        try object(depth: 1, member)
        skipSpace()
        guard place == bytes.count else { throw NotJSON() }
    }

    /// Parses an object.
    mutating func object(
        depth: Int = 2,
        _ member: (inout JSONReader, Bytes) throws(NotJSON) -> Void
    ) throws(NotJSON) {
        guard depth <= Self.deepest else { throw NotJSON() }
        try expect(UInt8(ascii: "{"))
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        while true {
            skipSpace()
            let name = try string()
            try expect(UInt8(ascii: ":"))
            try member(&self, name)
            skipSpace()
            if take(UInt8(ascii: "}")) { return }
            guard take(UInt8(ascii: ",")) else { throw NotJSON() }
        }
    }

    /// Parses `true` or `false`.
    mutating func flag() throws(NotJSON) -> Bool {
        skipSpace()
        if word("true") { return true }
        if word("false") { return false }
        throw NotJSON()
    }

    /// Parses a string or `null`.
    mutating func text() throws(NotJSON) -> Bytes? {
        skipSpace()
        if word("null") { return nil }
        return try string()
    }

    /// Skips a value of any type.
    mutating func skip(depth: Int = 2) throws(NotJSON) {
        guard depth <= Self.deepest else { throw NotJSON() }
        skipSpace()
        guard place < bytes.count else { throw NotJSON() }
        switch bytes[place] {
        case UInt8(ascii: "{"):
            try object(depth: depth) { (reader, _) throws(NotJSON) in try reader.skip(depth: depth + 1) }
        case UInt8(ascii: "["):
            try list(depth: depth) { (reader) throws(NotJSON) in try reader.skip(depth: depth + 1) }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = number()
        default: guard word("true") || word("false") || word("null") else { throw NotJSON() }
        }
    }

    /// The first byte of the next value, which shows its type.
    mutating func first() throws(NotJSON) -> UInt8 {
        skipSpace()
        guard place < bytes.count else { throw NotJSON() }
        return bytes[place]
    }

    /// Parses a list.
    ///
    /// - Parameters:
    ///   - depth: The nesting depth, including this list.
    ///   - element: Called for each element, which it parses.
    /// - Throws: ``NotJSON``.
    mutating func list(
        depth: Int = 2,
        _ element: (inout JSONReader) throws(NotJSON) -> Void
    ) throws(NotJSON) {
        guard depth <= Self.deepest else { throw NotJSON() }
        try expect(UInt8(ascii: "["))
        skipSpace()
        if take(UInt8(ascii: "]")) { return }
        while true {
            try element(&self)
            skipSpace()
            if take(UInt8(ascii: "]")) { return }
            guard take(UInt8(ascii: ",")) else { throw NotJSON() }
        }
    }

    /// Skips a number and returns its characters, whose order is not checked.
    mutating func number() -> ArraySlice<UInt8> {
        let start = place
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                place += 1
            default: return bytes[start..<place]
            }
        }
        return bytes[start..<place]
    }

    private mutating func string() throws(NotJSON) -> Bytes {
        try expect(UInt8(ascii: "\""))
        var text: Bytes = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw NotJSON()
            default: text.append(byte)
            }
        }
        throw NotJSON()
    }

    private mutating func escape(into text: inout Bytes) throws(NotJSON) {
        guard place < bytes.count else { throw NotJSON() }
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            text.append(UInt8(ascii: " "))
        case UInt8(ascii: "u"):
            guard place + 4 <= bytes.count else { throw NotJSON() }
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = Self.digit(bytes[place]) else { throw NotJSON() }
                code = code << 4 | digit
                place += 1
            }
            append(code, to: &text)
        default: throw NotJSON()
        }
    }

    /// Appends a character of the basic plane in UTF-8.
    ///
    /// Surrogates, which the service does not send, become `?`.
    private func append(_ code: UInt32, to text: inout Bytes) {
        switch code {
        case 0..<0x80: text.append(UInt8(truncatingIfNeeded: code))
        case 0x80..<0x800:
            text.append(UInt8(truncatingIfNeeded: 0xc0 | code >> 6))
            text.append(UInt8(truncatingIfNeeded: 0x80 | code & 0x3f))
        case 0xd800..<0xe000: text.append(UInt8(ascii: "?"))
        default:
            text.append(UInt8(truncatingIfNeeded: 0xe0 | code >> 12))
            text.append(UInt8(truncatingIfNeeded: 0x80 | code >> 6 & 0x3f))
            text.append(UInt8(truncatingIfNeeded: 0x80 | code & 0x3f))
        }
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private mutating func skipSpace() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0a, 0x0d: place += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(NotJSON) {
        skipSpace()
        guard take(byte) else { throw NotJSON() }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.count, Bytes(bytes[place..<end]).isText(word) else { return false }
        place = end
        return true
    }
}
