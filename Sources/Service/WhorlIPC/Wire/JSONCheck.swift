// SPDX-License-Identifier: Apache-2.0

/// Checks JSON from untrusted sources before it is decoded: its grammar (RFC 8259), UTF-8, depth and duplicate names.
///
/// It scans the bytes once, with an explicit stack, so that no input can make it recurse, trap, or allocate more than
/// the input's size.
struct JSONCheck {
    /// An error in a text.
    enum Fault: Error, Hashable {
        /// The text is not JSON, or not UTF-8.
        case malformed
        /// Arrays and objects are nested deeper than ``JSONCheck/deepest``.
        case tooDeep
        /// An object has a duplicate name; parsers disagree on which value counts.
        case doubleName
        /// A string has more than ``JSONCheck/mostMarks`` combining marks in a row.
        case tooManyMarks
        /// There are more values than are accepted.
        case tooManyValues
    }

    /// The maximum depth of nested arrays and objects.
    static let deepest = 32

    /// The maximum number of combining marks in a row (Unicode Standard Annex #15, Stream-Safe Text Format).
    ///
    /// When Swift compares or hashes strings, it sorts the marks in each such sequence, which takes a time proportional
    /// to the square of their number.
    static let mostMarks = 30

    /// Checks that `bytes` contain exactly one JSON object.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - mostValues: The maximum number of values, including arrays, objects and their contents. For each value, a
    ///     decoder creates an object of tens of bytes, although the value may need only two bytes of JSON.
    /// - Throws: The first error in the text.
    static func object(_ bytes: [UInt8], mostValues: Int = .max) throws(Fault) {
        guard bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else { throw .malformed }
        var check = JSONCheck(bytes: bytes, left: mostValues)
        try check.run()
    }

    private let bytes: [UInt8]
    /// The number of further values that are accepted.
    private var left: Int
    private var position = 0
    /// The names of each open object; `nil` for an array.
    private var open: [Set<[UInt8]>?] = []

    private init(bytes: [UInt8], left: Int) {
        self.bytes = bytes
        self.left = left
    }

    private mutating func run() throws(Fault) {
        try value()
        while !open.isEmpty { try member() }
        skipSpaces()
        guard position == bytes.count else { throw .malformed }
    }

    /// Continues inside the innermost array or object, to its next value or to its end.
    private mutating func member() throws(Fault) {
        skipSpaces()
        let isObject = open[open.count - 1] != nil
        if take(isObject ? "}" : "]") {
            open.removeLast()
            follows = true
            return
        }
        if follows {
            guard take(",") else { throw .malformed }
            skipSpaces()
        }
        if isObject {
            let name = try text()
            guard open[open.count - 1]?.insert(name).inserted == true else { throw .doubleName }
            skipSpaces()
            guard take(":") else { throw .malformed }
        }
        try value()
    }

    /// Whether a value in the innermost array or object precedes the current position, so that a comma must follow.
    private var follows = false

    private mutating func value() throws(Fault) {
        skipSpaces()
        guard position < bytes.count else { throw .malformed }
        guard left > 0 else { throw .tooManyValues }
        left -= 1
        switch bytes[position] {
        case UInt8(ascii: "{"): try begin([])
        case UInt8(ascii: "["): try begin(nil)
        case UInt8(ascii: "\""):
            _ = try text()
            follows = true
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func begin(_ names: Set<[UInt8]>?) throws(Fault) {
        guard open.count < Self.deepest else { throw .tooDeep }
        open.append(names)
        position += 1
        follows = false
    }

    private mutating func word(_ word: StaticString) throws(Fault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[index] else { throw .malformed }
            position += 1
        }
        follows = true
    }

    private mutating func number() throws(Fault) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        follows = true
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        guard position > start else { throw .malformed }
    }
}

// MARK: - Texts

extension JSONCheck {
    /// Reads a quoted string.
    ///
    /// - Returns: The string's bytes with all escapes resolved, so that `"a"` and `"\u0061"` are the same name.
    private mutating func text() throws(Fault) -> [UInt8] {
        guard take("\"") else { throw .malformed }
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                // Escapes produce valid UTF-8; the unescaped text is validated here.
                guard let text = String(validating: content, as: UTF8.self) else { throw .malformed }
                guard Self.isStreamSafe(text) else { throw .tooManyMarks }
                return content
            case UInt8(ascii: "\\"): try content.append(contentsOf: escape())
            case 0..<0x20: throw .malformed
            default: content.append(byte)
            }
        }
        throw .malformed
    }

    private static func isStreamSafe(_ text: String) -> Bool {
        var marks = 0
        for scalar in text.unicodeScalars {
            marks = isMark(scalar) ? marks + 1 : 0
            if marks > mostMarks { return false }
        }
        return true
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x300: false
        // They are not marks themselves, but decompose to two.
        case 0x0F73, 0x0F75, 0x0F81: true
        default: scalar.properties.canonicalCombiningClass != .notReordered
        }
    }

    private mutating func escape() throws(Fault) -> [UInt8] {
        guard position < bytes.count else { throw .malformed }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try scalar()).utf8)
        default: throw .malformed
        }
    }

    /// Reads the digits after `\u`: four digits, or two such units that form a surrogate pair.
    private mutating func scalar() throws(Fault) -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), take("\\"), take("u") else { throw .malformed }
        let second = try unit()
        guard UTF16.isTrailSurrogate(second) else { throw .malformed }
        let value = 0x1_0000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
        guard let scalar = Unicode.Scalar(value) else { throw .malformed }
        return scalar
    }

    private mutating func unit() throws(Fault) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue
            else { throw .malformed }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpaces() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
