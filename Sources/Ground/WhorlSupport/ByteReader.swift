// SPDX-License-Identifier: Apache-2.0

/// A reader for stored bytes, without copying; every read past the end returns `nil`.
///
/// It is generic and inlinable so that a reader over an `UnsafeRawBufferPointer` needs no allocation: the keychain
/// reads a record for each item that it examines. Other modules inline it because the type itself is usable from
/// inlinable code: without that the compiler (Swift 6.3) calls the generic functions.
@usableFromInline package struct ByteReader<Bytes: RandomAccessCollection<UInt8>> {
    /// The bytes that are left.
    @usableFromInline package private(set) var rest: Bytes.SubSequence

    /// Reads `bytes` from the beginning.
    @inlinable package init(_ bytes: Bytes) { rest = bytes[...] }

    /// Whether no bytes are left.
    @inlinable package var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next `count` bytes.
    @inlinable package mutating func take(_ count: Int) -> Bytes.SubSequence? {
        guard count >= 0, rest.count >= count else { return nil }
        let end = rest.index(rest.startIndex, offsetBy: count)
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// Reads a big-endian number.
    @inlinable package mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) -> Number? {
        take(MemoryLayout<Number>.size).map { bytes in
            bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
    }

    /// Reads bytes that follow their size, which has 4 bytes.
    @inlinable package mutating func sized() -> Bytes.SubSequence? { sized(by: UInt32.self) }

    /// Reads bytes that follow their size, a number of the given type.
    @inlinable package mutating func sized<Size: FixedWidthInteger>(by type: Size.Type) -> Bytes.SubSequence?
    {
        number(type).flatMap { Int(exactly: $0) }.flatMap { take($0) }
    }

    /// Reads a text that follows its size; `nil` if it is not UTF-8.
    @inlinable package mutating func text() -> String? {
        sized().flatMap { String(validating: $0, as: UTF8.self) }
    }
}
