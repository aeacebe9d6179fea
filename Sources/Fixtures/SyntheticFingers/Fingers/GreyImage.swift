// SPDX-License-Identifier: Apache-2.0

/// An 8-bit greyscale picture: 0 is black (ridge), 255 is white (background).
///
/// It carries no resolution, no colour profile and no transparency.
public struct GreyImage: Sendable, Equatable {
    /// The number of pixels in a row.
    public let width: Int

    /// The number of rows.
    public let height: Int

    /// The pixels row by row from the top left, without padding: `width` × `height` bytes.
    public let pixels: [UInt8]

    /// Makes a picture from its pixels, or returns `nil` if their number does not fit the size.
    ///
    /// - Parameters:
    ///   - width: Pixels in a row, at least 1.
    ///   - height: Rows, at least 1.
    ///   - pixels: Row by row from the top left, without padding.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count == pixels.count else { return nil }
        self.init(unchecked: pixels, width: width, height: height)
    }

    /// Makes a picture from pixels that this module has counted itself.
    init(unchecked pixels: [UInt8], width: Int, height: Int) {
        assert(width > 0 && height > 0 && width * height == pixels.count)
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
