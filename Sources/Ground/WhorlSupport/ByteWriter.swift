// SPDX-License-Identifier: Apache-2.0

/// A writer that joins big-endian numbers and sized byte sequences into one array.
///
/// It does not wipe anything: secret bytes belong in a `SecretBuffer`.
@usableFromInline package struct ByteWriter {
    /// The bytes that were written so far.
    @usableFromInline package private(set) var bytes: [UInt8] = []

    /// Begins with the name and the version of the format.
    @inlinable package init(_ form: StaticString = "") {
        // Large enough for most of Whorl's records.
        bytes.reserveCapacity(384)
        form.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Begins with the given bytes.
    @inlinable package init(_ start: some Sequence<UInt8>) { bytes.append(contentsOf: start) }

    /// Appends a big-endian number.
    @inlinable package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes whose size is fixed by the format.
    @inlinable package mutating func append(raw part: some Sequence<UInt8>) {
        bytes.append(contentsOf: part)
    }

    /// Appends the size in 4 bytes, then the bytes, so that the boundary of two neighbours is unambiguous.
    @inlinable package mutating func append(sized part: some Collection<UInt8>) {
        append(sized: part, by: UInt32.self)
    }

    /// Appends a size of another type, then the bytes.
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
