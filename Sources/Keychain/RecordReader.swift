// SPDX-License-Identifier: Apache-2.0

/// Takes a record apart where it lies; every read past the end is `nil`.
///
/// It reads what `ByteReader` does, in place: a record has a dozen runs of bytes, and is read for each item that is looked at.
struct RecordReader {
    private let bytes: UnsafeRawBufferPointer
    /// How many bytes were taken.
    private var taken = 0

    /// Reads bytes that the caller keeps for as long.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// How many bytes are left.
    var left: Int { bytes.count - taken }

    /// The next `count` bytes, where they lie.
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, left >= count else { return nil }
        defer { taken += count }
        return UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count])
    }

    /// The next byte.
    mutating func byte() -> UInt8? { take(1)?[0] }

    /// The next 8 bytes as a number, big-endian.
    mutating func number() -> UInt64? {
        take(8).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// A run of bytes behind its size.
    mutating func sized() -> UnsafeRawBufferPointer? {
        guard let size = take(4) else { return nil }
        return take(size.reduce(0) { $0 << 8 | Int($1) })
    }

    /// A text behind its size; `nil` for what is no UTF-8.
    mutating func text() -> String? { sized().flatMap(RecordReader.text) }

    /// All of some bytes as text; `nil` for what is no UTF-8.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        // What is no UTF-8 is replaced, and then it is not the same any more.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
