// SPDX-License-Identifier: Apache-2.0

/// Makes values of an input's bytes, for targets whose input is more than one text: a row, a set of variables.
///
/// It never runs out: behind the end there are zeros and empty texts, so that a fuzzer may cut an input anywhere.
struct InputReader {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// Eight bytes, little-endian.
    mutating func number() -> Int64 {
        (0..<8).reduce(0) { $0 | Int64(byte()) << (8 * Int64($1)) }
    }

    /// At most 255 bytes, behind one byte that says how many.
    mutating func bytes() -> [UInt8] {
        let size = Int(byte())
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }

    /// The same as text; what is no UTF-8 becomes U+FFFD, as in every text that Swift reads.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// All that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
