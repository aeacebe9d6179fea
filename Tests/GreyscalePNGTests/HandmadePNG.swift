// SPDX-License-Identifier: Apache-2.0

/// PNG files put together by hand, so that libpng's reading is held against the specification and not against its
/// own writing.
struct HandmadePNG {
    /// The colour types of the specification, with their numbers.
    enum Colour: UInt8 {
        case grey = 0, rgb = 2, palette = 3, greyAlpha = 4, rgba = 6
    }

    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A file with `rows` of samples as they are, without filters and without compression.
    ///
    /// - Parameters:
    ///   - width: Pixels in a row.
    ///   - depth: Bits in a sample.
    ///   - colour: What the samples mean.
    ///   - rows: The bytes of each row.
    ///   - before: Chunks to stand between the header and the pixels.
    init(
        width: Int,
        depth: UInt8 = 8,
        colour: Colour,
        rows: [[UInt8]],
        before: [(String, [UInt8])] = []
    ) {
        let size = Self.big(UInt32(width)) + Self.big(UInt32(rows.count))
        append("IHDR", size + [depth, colour.rawValue, 0, 0, 0])
        for chunk in before {
            append(chunk.0, chunk.1)
        }
        append("IDAT", Self.stored(rows.flatMap { [0] + $0 }))
        append("IEND", [])
    }

    private mutating func append(_ name: String, _ data: [UInt8]) {
        let body = Array(name.utf8) + data
        bytes += Self.big(UInt32(data.count)) + body + Self.big(Self.crc(body))
    }

    /// A zlib stream of stored blocks (RFC 1950, RFC 1951 §3.2.4).
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = data[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(0xFFFF)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for half in [length, ~length] {
                stream += [UInt8(half & 255), UInt8(half >> 8)]
            }
            stream += block
        } while !rest.isEmpty
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in data {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return stream + big(b << 16 | a)
    }

    /// The checksum of a chunk's name and data.
    static func crc(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 {
                crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1
            }
        }
        return ~crc
    }

    static func big(_ word: UInt32) -> [UInt8] {
        withUnsafeBytes(of: word.bigEndian) { [UInt8]($0) }
    }
}
