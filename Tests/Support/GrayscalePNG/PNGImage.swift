// SPDX-License-Identifier: Apache-2.0

internal import CPNG

/// libpng's `png_image`: the simplified interface, which keeps its `longjmp` to itself.
struct PNGImage: ~Copyable {
    /// libpng keeps this address for its error reports, so the structure must not move.
    private let image: UnsafeMutablePointer<png_image>

    /// libpng reads from these bytes until the pixels are out, so they must not move either.
    private let file: UnsafeMutableRawBufferPointer

    /// Reads a file's header.
    init(reading bytes: [UInt8]) throws(PNGError) {
        image = .allocate(capacity: 1)
        image.initialize(to: Self.blank)
        file = .allocate(byteCount: bytes.count, alignment: 1)
        file.copyBytes(from: bytes)
        // png_image_begin_read_from_memory: borrows the bytes.
        guard png_image_begin_read_from_memory(image, file.baseAddress, file.count) != 0 else {
            throw Self.damage(image.pointee)
        }
    }

    deinit {
        // png_image_free: does nothing if reading has ended, well or not.
        png_image_free(image)
        image.deallocate()
        file.deallocate()
    }

    /// Pixels in a row.
    var width: Int { Int(image.pointee.width) }

    /// The number of rows.
    var height: Int { Int(image.pointee.height) }

    /// Whether the file says anything of transparency.
    var hasAlpha: Bool { image.pointee.format & PNG_FORMAT_FLAG_ALPHA != 0 }

    /// The pixels, as red, green, blue and alpha bytes.
    ///
    /// Of all of libpng's formats this one holds every 8-bit file's numbers unchanged: colors are not
    /// weighed against each other, and alpha stands beside them instead of being mixed in.
    consuming func pixels() throws(PNGError) -> [UInt8] {
        image.pointee.format = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA
        // Otherwise 16-bit numbers would pass as linear light and be converted.
        image.pointee.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
        var pixels = [UInt8](repeating: 0, count: 4 * width * height)
        let stride = Int32(4 * width)
        // png_image_finish_read: writes height × stride bytes, frees its own memory.
        let finished = pixels.withUnsafeMutableBytes { buffer in
            png_image_finish_read(image, nil, buffer.baseAddress, stride, nil)
        }
        guard finished != 0 else { throw Self.damage(image.pointee) }
        return pixels
    }

    private static var blank: png_image {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        return image
    }

    private static func damage(_ image: png_image) -> PNGError {
        let text = withUnsafeBytes(of: image.message) { message in
            String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
        }
        return PNGError(cause: text)
    }
}

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
