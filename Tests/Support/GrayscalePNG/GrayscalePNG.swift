// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Grayscale pictures in PNG files, pixel for pixel, for tests: libfprint's recordings and example prints are such files.
///
/// No color profile, gamma or transparency is applied to the numbers in a file.
package enum GrayscalePNG {
    /// A picture of 8-bit pixels, row by row from the top left, without padding.
    package typealias Picture = (width: Int, height: Int, pixels: [UInt8])

    /// Reads the gray values of a file, whatever its transparency.
    ///
    /// Of colored pixels it takes the luminance, by the weights of Rec. 709.
    package static func read(_ path: String) throws -> Picture {
        let (image, rgba) = try decode(path)
        return (
            image.width, image.height,
            stride(from: 0, to: rgba.count, by: 4).map { at in
                let (red, green, blue) = (Int(rgba[at]), Int(rgba[at + 1]), Int(rgba[at + 2]))
                // The weights add up to 10000, so a gray pixel keeps its value exactly.
                return UInt8((2126 * red + 7152 * green + 722 * blue + 5000) / 10000)
            }
        )
    }

    /// Makes a PGM file of a PNG file: of its transparency where it has one, as libfprint's example prints do, otherwise of
    /// its gray values.
    package static func pgm(_ path: String) throws -> Data {
        let (image, rgba) = try decode(path)
        let pixels =
            image.hasAlpha ? stride(from: 3, to: rgba.count, by: 4).map { rgba[$0] } : try read(path).pixels
        return Data("P5\n\(image.width) \(image.height)\n255\n".utf8) + pixels
    }

    private static func decode(_ path: String) throws -> ((width: Int, height: Int, hasAlpha: Bool), [UInt8])
    {
        let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
        guard let essential = PNGChunks.essential(of: file) else { throw PNGError(cause: "no PNG file") }
        let image = try PNGImage(reading: essential)
        let size = (image.width, image.height, image.hasAlpha)
        return (size, try image.pixels())
    }
}

/// The words of libpng on a file that it cannot read.
package struct PNGError: Error {
    let cause: String
}
