// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Puts numbers (big-endian) and sized runs of bytes one behind the other.
struct ByteWriter {
    private(set) var data: Data

    init(_ start: Data = Data()) { data = start }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }

    mutating func append(raw bytes: Data) { data.append(bytes) }

    /// The size in 4 bytes, then the bytes: two neighbours can never be taken for one another.
    mutating func append(sized bytes: Data) {
        append(UInt32(clamping: bytes.count))
        data.append(bytes)
    }
}

/// Takes apart what a ``ByteWriter`` wrote; every read past the end is `nil`.
struct ByteReader {
    private var rest: Data

    init(_ data: Data) { rest = data }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) -> Data? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        take(MemoryLayout<Number>.size)?.reduce(0) {
            Number(truncatingIfNeeded: UInt64($0) << 8 | UInt64($1))
        }
    }

    mutating func sized() -> Data? {
        number(UInt32.self).flatMap { take(Int($0)) }
    }
}
