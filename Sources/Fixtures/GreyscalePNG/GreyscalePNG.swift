// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Greyscale pictures in PNG files, pixel for pixel.
///
/// What a scanner saw is a measurement, not a photograph: no colour profile, gamma or transparency is ever
/// applied to the numbers in a file.
package enum GreyscalePNG {
    /// A picture of 8-bit pixels, row by row from the top left, without padding.
    package typealias Picture = (width: Int, height: Int, pixels: [UInt8])

    /// The layout of a picture's numbers in a file.
    package enum Channel: Sendable {
        /// The grey values, whatever the transparency; of coloured pixels the luminance (Rec. 709 weights).
        case grey
        /// The transparency: 0 where the file is transparent, 255 where it is opaque.
        case alpha
    }

    /// The most pixels that a picture may have in a row, and the most rows.
    package static let longestSide = 4096

    /// The most bytes that a file may have: 64 MiB.
    package static let largestFile = 64 << 20

    /// Reads a picture from a file of any PNG kind; 16-bit numbers are rounded to 8.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - channel: Which of its numbers are wanted.
    /// - Returns: At least one pixel, at most `longestSide` each way.
    /// - Throws: `unreadable` (only plain files are read), `notPNG`, `tooLarge`, `damaged`, or `noAlpha`.
    package static func read(
        _ path: String,
        channel: Channel = .grey
    ) throws(GreyscalePNGError) -> Picture {
        try decode(FileBytes.read(path, atMost: largestFile), channel: channel)
    }

    /// Reads a picture from the bytes of a PNG file.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - channel: Which of its numbers are wanted.
    /// - Returns: At least one pixel, at most `longestSide` each way.
    /// - Throws: `notPNG`, `tooLarge`, `damaged`, or `noAlpha`.
    package static func decode(
        _ bytes: [UInt8],
        channel: Channel = .grey
    ) throws(GreyscalePNGError) -> Picture {
        guard let essential = PNGChunks.essential(of: bytes) else { throw GreyscalePNGError(.notPNG) }
        let image = try PNGImage(reading: essential)
        guard image.width <= longestSide, image.height <= longestSide else {
            throw GreyscalePNGError(.tooLarge)
        }
        guard channel == .grey || image.hasAlpha else { throw GreyscalePNGError(.noAlpha) }
        let (width, height) = (image.width, image.height)
        let rgba = try image.pixels()
        let pixels = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, count in
            rgba.withUnsafeBufferPointer { rgba in
                while count < width * height {
                    buffer[count] = value(of: channel, in: rgba, at: 4 * count)
                    count += 1
                }
            }
        }
        return (width, height, pixels)
    }

    /// The bytes of an 8-bit greyscale PNG file.
    ///
    /// - Parameters:
    ///   - width: Pixels in a row, 1 to `longestSide`.
    ///   - height: Rows, 1 to `longestSide`.
    ///   - pixels: `width` × `height` bytes, row by row from the top left.
    /// - Returns: The whole file.
    /// - Throws: `invalidSize` if the numbers do not fit, `tooLarge`.
    package static func encode(
        width: Int,
        height: Int,
        pixels: [UInt8]
    ) throws(GreyscalePNGError) -> [UInt8] {
        guard width <= longestSide, height <= longestSide else { throw GreyscalePNGError(.tooLarge) }
        guard width > 0, height > 0, width * height == pixels.count else {
            throw GreyscalePNGError(.invalidSize)
        }
        return try PNGImage.encode(width: width, height: height, pixels: pixels)
    }

    /// Writes an 8-bit greyscale PNG file that only this user may read, replacing what is there.
    ///
    /// The file is there whole or not at all, even if the process is killed.
    ///
    /// - Parameters:
    ///   - path: The file's path; its folder must exist.
    ///   - width: Pixels in a row, 1 to `longestSide`.
    ///   - height: Rows, 1 to `longestSide`.
    ///   - pixels: `width` × `height` bytes, row by row from the top left.
    /// - Throws: `invalidSize`, `tooLarge`, or `unwritable` with an `errno`.
    package static func write(
        _ path: String,
        width: Int,
        height: Int,
        pixels: [UInt8]
    ) throws(GreyscalePNGError) {
        try FileBytes.replace(path, with: encode(width: width, height: height, pixels: pixels))
    }

    /// Looks whether a picture can be written there, before it is made.
    ///
    /// - Parameter path: The file's path; nothing, or a plain file, may be there.
    /// - Throws: `unwritable`.
    package static func checkPlace(_ path: String) throws(GreyscalePNGError) {
        try FileBytes.checkPlace(path)
    }

    private static func value(
        of channel: Channel,
        in rgba: UnsafeBufferPointer<UInt8>,
        at index: Int
    ) -> UInt8 {
        switch channel {
        case .alpha: return rgba[index + 3]
        case .grey:
            let (red, green, blue) = (Int(rgba[index]), Int(rgba[index + 1]), Int(rgba[index + 2]))
            // The weights add up to 10000, so a grey pixel keeps its value exactly.
            return UInt8((2126 * red + 7152 * green + 722 * blue + 5000) / 10000)
        }
    }
}

/// An error of reading or writing a picture.
package struct GreyscalePNGError: Error, Equatable, Sendable {
    /// The kinds of failure.
    package enum Code: String, Sendable {
        /// The file cannot be opened or read.
        case unreadable = "unreadable"
        /// The file cannot be written.
        case unwritable = "unwritable"
        /// The bytes are not those of a PNG file.
        case notPNG = "notPNG"
        /// It is a PNG file with an error in it.
        case damaged = "damaged"
        /// The picture or the file is larger than is accepted.
        case tooLarge = "tooLarge"
        /// The transparency was asked for and the file has none.
        case noAlpha = "noAlpha"
        /// The number of pixels does not fit the width and height.
        case invalidSize = "invalidSize"
    }

    /// The kind of failure.
    package let code: Code

    /// The system's `errno`, or 0 without one.
    package let systemCode: Int32

    /// libpng's own words, or what else is known; may be empty.
    package let cause: String

    init(_ code: Code, systemCode: Int32 = 0, cause: String = "") {
        self.code = code
        self.systemCode = systemCode
        self.cause = cause
    }

    /// A sentence that says what happened.
    package var message: String {
        switch code {
        case .unreadable: "The picture cannot be read: \(systemReason)."
        case .unwritable: "The picture cannot be written: \(systemReason)."
        case .notPNG: "The file is not a PNG picture."
        case .damaged: "The PNG picture is damaged: \(cause)."
        case .tooLarge: "The picture is too large."
        case .noAlpha: "The picture has no transparency."
        case .invalidSize: "The number of pixels does not fit the picture's width and height."
        }
    }

    /// A sentence that says what the person can do.
    package var recovery: String {
        switch code {
        case .unreadable: "Check the path and that you may read the file."
        case .unwritable: "Check that the folder exists and that you may write to it."
        case .notPNG, .damaged: "Choose another file, or make this one anew."
        case .tooLarge:
            "Choose a picture of at most \(GreyscalePNG.longestSide) pixels each way, "
                + "in a file of at most \(GreyscalePNG.largestFile >> 20) MiB."
        case .noAlpha: "Read the grey values instead."
        case .invalidSize: "Give width × height pixels."
        }
    }

    private var systemReason: String {
        systemCode == 0 ? cause : String(cString: strerror(systemCode))
    }
}

extension GreyscalePNGError: CustomDebugStringConvertible {
    /// The message with its codes.
    package var debugDescription: String {
        "\(message) (\(code), errno \(systemCode), libpng “\(cause)”)"
    }
}
