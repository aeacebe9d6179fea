// SPDX-License-Identifier: Apache-2.0

/// The parts that a PNG file is made of (PNG specification, third edition, §5).
enum PNGChunks {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The parts that say what the pixels are: header, palette, pixels, transparency, end.
    private static let essentialNames: Set<[UInt8]> = Set(
        ["IHDR", "PLTE", "IDAT", "tRNS", "IEND"].map { Array($0.utf8) }
    )

    /// The file without the parts that say how pixels should *look*, or `nil` if it does not begin as PNG
    /// files do.
    ///
    /// libpng's simplified interface converts the pixels where a gamma or a profile asks for it, and cannot
    /// be told not to. A part that is cut short is kept as it is: libpng words the error better.
    static func essential(of file: [UInt8]) -> [UInt8]? {
        guard file.starts(with: signature) else { return nil }
        var result = signature
        var position = signature.count
        while position < file.count {
            // Length of the data (4 bytes, big-endian), name (4), data, checksum (4).
            guard file.count - position >= 12 else { return result + file[position...] }
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = min(position + 12 + length, file.count)
            if essentialNames.contains(Array(file[position + 4..<position + 8])) {
                result += file[position..<end]
            }
            position = end
        }
        return result
    }
}
