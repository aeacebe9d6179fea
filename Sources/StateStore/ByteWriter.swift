// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Puts numbers (big-endian) and sized runs of bytes one behind the other.
package struct ByteWriter {
    /// What was put together so far.
    package private(set) var data: Data

    /// Begins with the bytes of `start`, which name the format and its version.
    package init(_ start: Data = Data()) { data = start }

    /// A number, big-endian.
    package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }

    /// Bytes whose size the format fixes.
    package mutating func append(raw bytes: Data) { data.append(bytes) }

    /// The size in 4 bytes, then the bytes: two neighbours can never be taken for one another.
    package mutating func append(sized bytes: Data) {
        append(UInt32(clamping: bytes.count))
        data.append(bytes)
    }
}

/// Takes apart what a ``ByteWriter`` wrote; every read past the end is `nil`.
package struct ByteReader {
    private var rest: Data

    /// Reads `data` from its beginning.
    package init(_ data: Data) { rest = data }

    /// Whether nothing is left.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The next `count` bytes.
    package mutating func take(_ count: Int) -> Data? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    /// A number, big-endian.
    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Number(bigEndian: rest.withUnsafeBytes { $0.loadUnaligned(as: Number.self) })
    }

    /// A run of bytes behind its size.
    package mutating func sized() -> Data? {
        number(UInt32.self).flatMap { take(Int($0)) }
    }
}
