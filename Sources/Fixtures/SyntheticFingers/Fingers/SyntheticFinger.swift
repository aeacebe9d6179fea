// SPDX-License-Identifier: Apache-2.0

/// A synthetic finger whose presses behave like real ones in libfprint's matcher.
///
/// Presses of one finger match each other. Presses of two different fingers rarely do (about 2 in 10,000 pairs, see
/// `Bench/matcher`), and those of `testSeeds` never do. On every machine and in every build, the same seed results in
/// the same finger, and the same seed and index result in the same press.
///
/// It is intended for tests and demonstrations. It is not a copy of a living person's print and cannot be used to
/// create one.
package struct SyntheticFinger: Sendable {
    /// The number of pixels per row of every press.
    package static let width = FingerMaster.width

    /// The number of rows of every press.
    package static let height = FingerMaster.height

    /// The seed of the finger.
    package let seed: UInt64

    private let master: FingerMaster

    /// Grows the finger for `seed`, or reads it from `cache`.
    ///
    /// - Parameters:
    ///   - seed: Any number.
    ///   - cache: The cache for grown fingers, or `nil` to use no cache.
    package init(seed: UInt64, cache: FingerCache? = .standard) {
        self.seed = seed
        master = cache?.master(seed: seed) ?? FingerMaster(seed: seed)
    }

    /// Returns the reader's image of a press.
    ///
    /// - Parameters:
    ///   - index: The number of the press. Presses with different numbers have different positions, and the same number
    ///     always results in the same press.
    ///   - quality: The quality of the press. The same index with two qualities results in two similar presses, not in
    ///     two images of the same press.
    /// - Returns: An image of dark ridges on white, `width` × `height` pixels in size.
    package func press(_ index: Int, quality: PressQuality = .normal) -> GrayImage {
        guard quality != .blank else { return FingerPress.blank }
        return FingerPress(quality: quality, random: RandomSource(seed: seed, press: index)).image(of: master)
    }
}

extension SyntheticFinger {
    /// The seeds of fingers for tests, none of which libfprint 1.94.5 confuses with another.
    ///
    /// `Bench/matcher/run test-seeds` checked this by comparing 7 presses of each finger with all others after
    /// enrolling them. Some synthetic fingers do match each other, so a test that needs several fingers uses these.
    package static let testSeeds: [UInt64] = Array(1...24)
}

/// The quality of a press on the reader.
///
/// The statements about matching are based on measurements with libfprint 1.94.5, after an enrollment with five normal
/// presses (see `Bench/matcher`).
package enum PressQuality: String, Sendable, CaseIterable {
    /// The finger is straight, centered, dry and clean, as if the user followed instructions. It matches.
    case careful

    /// The finger is off by up to 15 pixels and 8°, slightly stretched and pressed unevenly. It matches.
    case normal

    /// The finger is off by up to 25 pixels and 15° and stretched twice as much, and its image is noisy and smaller. It
    /// matches, but with less margin.
    case hard

    /// Only the edge of a fingertip touches the sensor. The scan succeeds, but shows too few minutiae for a match.
    case partial

    /// There is no finger on the sensor. libfprint requests another try (`FP_DEVICE_RETRY_GENERAL`).
    case blank
}

/// An 8-bit grayscale image, in which 0 is black (ridge) and 255 is white (background).
///
/// The image has no resolution, color profile or transparency.
package struct GrayImage: Sendable, Equatable {
    /// The number of pixels per row.
    package let width: Int

    /// The number of rows.
    package let height: Int

    /// The pixels row by row from the top left, as `width` × `height` bytes without padding.
    package let pixels: [UInt8]

    /// Creates an image from its pixels, or returns `nil` if the number of pixels does not match the size.
    ///
    /// - Parameters:
    ///   - width: The number of pixels per row, at least 1.
    ///   - height: The number of rows, at least 1.
    ///   - pixels: The pixels row by row from the top left, without padding.
    package init?(width: Int, height: Int, pixels: [UInt8]) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count == pixels.count else { return nil }
        self.init(unchecked: pixels, width: width, height: height)
    }

    /// Creates an image without checking the number of pixels, which this module guarantees to be correct.
    init(unchecked pixels: [UInt8], width: Int, height: Int) {
        assert(width > 0 && height > 0 && width * height == pixels.count)
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
