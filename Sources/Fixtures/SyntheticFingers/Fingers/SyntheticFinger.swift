// SPDX-License-Identifier: Apache-2.0

/// A synthetic finger, whose presses behave like real ones in libfprint's matcher.
///
/// Presses of one finger match each other. Presses of two fingers rarely do, in about 2 of 10 000 pairs (see
/// `Bench/matcher`), and never for `testSeeds`. On every machine and in every build, a seed results in the same finger,
/// and a seed and an index in the same press.
///
/// It is intended for tests and demonstrations. It does not copy a living person's print, and cannot be used to create
/// one.
package struct SyntheticFinger: Sendable {
    /// Pixels per row of every press.
    package static let width = FingerMaster.width

    /// Rows of every press.
    package static let height = FingerMaster.height

    /// The seed of the finger.
    package let seed: UInt64

    private let master: FingerMaster

    /// Grows the finger of `seed`, or reads it from `cache`.
    ///
    /// - Parameters:
    ///   - seed: Any number.
    ///   - cache: The cache for grown fingers; `nil` for none.
    package init(seed: UInt64, cache: FingerCache? = .standard) {
        self.seed = seed
        master = cache?.master(seed: seed) ?? FingerMaster(seed: seed)
    }

    /// Returns the reader's image of a press.
    ///
    /// - Parameters:
    ///   - index: The number of the press: each has a different position, and the same one is always the same.
    ///   - quality: The quality of the press. One index at two qualities is two similar presses, not one press seen
    ///     twice.
    /// - Returns: Dark ridges on white, `width` × `height` pixels.
    package func press(_ index: Int, quality: PressQuality = .normal) -> GrayImage {
        guard quality != .blank else { return FingerPress.blank }
        return FingerPress(quality: quality, random: RandomSource(seed: seed, press: index)).image(of: master)
    }
}

extension SyntheticFinger {
    /// Fingers for tests, none of which libfprint 1.94.5 confuses with another.
    ///
    /// Checked with `Bench/matcher/run test-seeds`: 7 presses of each against all enrolled others. Some synthetic
    /// fingers do match each other, so a test that needs several uses these.
    package static let testSeeds: [UInt64] = Array(1...24)
}

/// The quality of a press on the reader.
///
/// The statements about matching were measured with libfprint 1.94.5, after an enrollment of five normal presses (see
/// `Bench/matcher`).
package enum PressQuality: String, Sendable, CaseIterable {
    /// Straight, centered, dry and clean, as when following instructions: it matches.
    case careful

    /// Off by up to 15 pixels and 8°, a little stretched, unevenly pressed: it matches.
    case normal

    /// Off by up to 25 pixels and 15°, stretched twice as much, noisy, smaller: it matches with less margin.
    case hard

    /// Only the edge of a fingertip: the scan succeeds, but shows too few minutiae for a match.
    case partial

    /// No finger on the sensor: libfprint requests another try (`FP_DEVICE_RETRY_GENERAL`).
    case blank
}

/// An 8-bit grayscale image: 0 is black (ridge), 255 is white (background).
///
/// It has no resolution, color profile or transparency.
package struct GrayImage: Sendable, Equatable {
    /// The number of pixels per row.
    package let width: Int

    /// The number of rows.
    package let height: Int

    /// The pixels row by row from the top left, without padding: `width` × `height` bytes.
    package let pixels: [UInt8]

    /// Creates an image from its pixels; returns `nil` if their number does not match the size.
    ///
    /// - Parameters:
    ///   - width: Pixels per row, at least 1.
    ///   - height: Rows, at least 1.
    ///   - pixels: Row by row from the top left, without padding.
    package init?(width: Int, height: Int, pixels: [UInt8]) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count == pixels.count else { return nil }
        self.init(unchecked: pixels, width: width, height: height)
    }

    /// Creates an image from pixels whose number this module guarantees.
    init(unchecked pixels: [UInt8], width: Int, height: Int) {
        assert(width > 0 && height > 0 && width * height == pixels.count)
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
