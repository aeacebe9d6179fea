// SPDX-License-Identifier: Apache-2.0

/// Takes stored bytes apart where they lie; every read past the end is `nil`.
///
/// It is generic and inlinable so that a reader over an `UnsafeRawBufferPointer` costs no allocation: the
/// keychain reads a record for each item that it looks at.
package struct ByteReader<Bytes: RandomAccessCollection<UInt8>> {
    /// The bytes that are left.
    @usableFromInline package private(set) var rest: Bytes.SubSequence

    /// Reads `bytes` from the beginning.
    @inlinable package init(_ bytes: Bytes) { rest = bytes[...] }

    /// Whether nothing is left.
    @inlinable package var isAtEnd: Bool { rest.isEmpty }

    /// The next `count` bytes.
    @inlinable package mutating func take(_ count: Int) -> Bytes.SubSequence? {
        guard count >= 0, rest.count >= count else { return nil }
        let end = rest.index(rest.startIndex, offsetBy: count)
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// A number, big-endian.
    @inlinable package mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) -> Number? {
        take(MemoryLayout<Number>.size).map { bytes in
            bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
    }

    /// A run of bytes behind its size, which has 4 bytes.
    @inlinable package mutating func sized() -> Bytes.SubSequence? { sized(by: UInt32.self) }

    /// A run of bytes behind its size, a number of the given type.
    @inlinable package mutating func sized<Size: FixedWidthInteger>(by type: Size.Type) -> Bytes.SubSequence?
    {
        number(type).flatMap { Int(exactly: $0) }.flatMap { take($0) }
    }

    /// A text behind its size; `nil` if it is not UTF-8.
    @inlinable package mutating func text() -> String? {
        sized().flatMap { String(validating: $0, as: UTF8.self) }
    }
}
