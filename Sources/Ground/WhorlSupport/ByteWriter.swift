// SPDX-License-Identifier: Apache-2.0

/// Joins numbers (big-endian) and sized runs of bytes into one array.
///
/// It does not wipe anything: bytes that must not stay in memory belong in a `SecretBuffer`.
package struct ByteWriter {
    /// The bytes so far.
    @usableFromInline package private(set) var bytes: [UInt8] = []

    /// Begins with the name of the format and its version.
    @inlinable package init(_ form: StaticString = "") {
        // Most of our records fit.
        bytes.reserveCapacity(384)
        form.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Begins with some bytes.
    @inlinable package init(_ start: some Sequence<UInt8>) { bytes.append(contentsOf: start) }

    /// A number, big-endian.
    @inlinable package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Bytes whose size the format fixes.
    @inlinable package mutating func append(raw part: some Sequence<UInt8>) {
        bytes.append(contentsOf: part)
    }

    /// The size in 4 bytes, then the bytes: two neighbours can never be taken for one another.
    @inlinable package mutating func append(sized part: some Collection<UInt8>) {
        append(sized: part, by: UInt32.self)
    }

    /// The same with a size of another type.
    @inlinable package mutating func append<Size: FixedWidthInteger>(
        sized part: some Collection<UInt8>,
        by type: Size.Type
    ) {
        append(Size(clamping: part.count))
        bytes.append(contentsOf: part)
    }

    /// The same for the UTF-8 of a text.
    @inlinable package mutating func append(sized text: String) { append(sized: text.utf8) }
}
