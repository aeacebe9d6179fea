// SPDX-License-Identifier: Apache-2.0

/// A reader for stored bytes that does not copy them; every read past the end returns `nil`.
///
/// It is generic and inlinable so that a reader over an `UnsafeRawBufferPointer` does not need an allocation: the
/// keychain reads a record for each item that it examines. Other modules can inline it because the type itself is
/// usable from inlinable code; otherwise the compiler (Swift 6.3) calls the generic functions.
@usableFromInline package struct ByteReader<Bytes: RandomAccessCollection<UInt8>> {
    /// The remaining bytes.
    @usableFromInline package private(set) var rest: Bytes.SubSequence

    /// Creates a reader at the start of `bytes`.
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

    /// Reads a size of 4 bytes, and then that many bytes.
    @inlinable package mutating func sized() -> Bytes.SubSequence? { sized(by: UInt32.self) }

    /// Reads a size of the given type, and then that many bytes.
    @inlinable package mutating func sized<Size: FixedWidthInteger>(by type: Size.Type) -> Bytes.SubSequence?
    {
        number(type).flatMap { Int(exactly: $0) }.flatMap { take($0) }
    }

    /// Reads a size of 4 bytes and then text of that size; returns `nil` if the text is not UTF-8.
    @inlinable package mutating func text() -> String? { sized().flatMap { String(utf8: $0) } }
}

extension String {
    /// Creates text from UTF-8; returns `nil` if the bytes are not UTF-8.
    ///
    /// `String(validating:as:)` calls generic functions for each text (Swift 6.3), which takes longer than the check.
    @inlinable package init?(utf8 bytes: some Collection<UInt8>) {
        let text = bytes.withContiguousStorageIfAvailable { bytes -> String? in
            // The position of the first invalid byte is of no use to a reader of stored bytes.
            guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
            return String(copying: text)
        }
        guard let text = text ?? String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }
}

/// A writer that joins big-endian numbers and sized byte sequences into one array.
///
/// It does not wipe anything: secret bytes belong in a `SecretBuffer`.
@usableFromInline package struct ByteWriter {
    /// The bytes written so far.
    @usableFromInline package private(set) var bytes: [UInt8] = []

    /// Creates a writer that starts with the name and version of the format.
    @inlinable package init(_ form: StaticString = "") {
        // Large enough for most of Whorl's records.
        bytes.reserveCapacity(384)
        form.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Creates a writer that starts with the given bytes.
    @inlinable package init(_ start: some Sequence<UInt8>) { bytes.append(contentsOf: start) }

    /// Appends a big-endian number.
    @inlinable package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes whose size is fixed by the format.
    @inlinable package mutating func append(raw part: some Sequence<UInt8>) {
        bytes.append(contentsOf: part)
    }

    /// Appends the size in 4 bytes, then the bytes, so that the boundary between two parts is unambiguous.
    @inlinable package mutating func append(sized part: some Collection<UInt8>) {
        append(sized: part, by: UInt32.self)
    }

    /// Appends the size as a number of the given type, then the bytes.
    @inlinable package mutating func append<Size: FixedWidthInteger>(
        sized part: some Collection<UInt8>,
        by type: Size.Type
    ) {
        append(Size(clamping: part.count))
        bytes.append(contentsOf: part)
    }

    /// Appends the size in 4 bytes, then the UTF-8 of a text.
    @inlinable package mutating func append(sized text: String) { append(sized: text.utf8) }
}
