// SPDX-License-Identifier: Apache-2.0

/// Puts numbers (big-endian) and sized runs of bytes one behind the other, as `ByteWriter` does.
///
/// It gathers them in an array, which takes a few bytes in a fraction of the time that `Data` needs, and copies them once at
/// the end; so it is for what may be seen, and not for plaintext.
struct RecordWriter {
    private var bytes: [UInt8] = []

    /// Begins with the name of the format and its version.
    init(_ form: StaticString) {
        // Most rows fit.
        bytes.reserveCapacity(384)
        form.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// What was put together so far.
    var data: Data { Data(bytes) }

    /// A byte.
    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// A number in 8 bytes.
    mutating func append(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    /// The size in 4 bytes, then the bytes: two neighbours can never be taken for one another.
    mutating func append(sized data: Data) {
        append(size: data.count)
        data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// The same of a text's UTF-8.
    mutating func append(sized text: String) {
        append(size: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(size: Int) {
        let size = UInt32(clamping: size)
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: size >> UInt32(shift)))
        }
    }
}
