// SPDX-License-Identifier: Apache-2.0

/// A finger that does not exist, whose presses libfprint's matcher treats as it treats real ones.
///
/// Presses of one finger match each other. Presses of two fingers seldom do, in about 2 of 10 000 pairs (see
/// `Bench/matcher`), and in none of those of `testSeeds`. A seed gives the same finger, and a seed and an
/// index the same press, on every machine and in every build.
///
/// It is for tests and demonstrations. It copies no living person's print, and it cannot be used to make one.
package struct SyntheticFinger: Sendable {
    /// Pixels in a row of every press.
    package static let width = FingerMaster.width

    /// Rows of every press.
    package static let height = FingerMaster.height

    /// The number that the finger grew from.
    package let seed: UInt64

    private let master: FingerMaster

    /// Grows the finger of `seed`, or takes it from `cache` if it is there.
    ///
    /// - Parameters:
    ///   - seed: Any number.
    ///   - cache: Where grown fingers are kept; `nil` to keep none.
    package init(seed: UInt64, cache: FingerCache? = .standard) {
        self.seed = seed
        master = cache?.master(seed: seed) ?? FingerMaster(seed: seed)
    }

    /// The picture that a reader takes when the finger is put on it.
    ///
    /// - Parameters:
    ///   - index: Which press: each lies differently, and the same one is always the same.
    ///   - quality: How well the finger is put on. One index at two qualities is two presses of one kind, not
    ///     one press seen twice.
    /// - Returns: Dark ridges on white, `width` × `height` pixels.
    package func press(_ index: Int, quality: PressQuality = .normal) -> GrayImage {
        guard quality != .blank else { return FingerPress.blank }
        return FingerPress(quality: quality, random: RandomSource(seed: seed, press: index)).image(of: master)
    }
}

extension SyntheticFinger {
    /// Fingers for tests: libfprint 1.94.5 takes none of them for another.
    ///
    /// Checked with `Bench/matcher/run test-seeds`: 7 presses of each against all the others, enrolled. Some
    /// synthetic fingers do pass for each other, so a test that needs several takes them from here.
    package static let testSeeds: [UInt64] = Array(1...24)
}

/// The quality of a press on the reader.
///
/// What is said of matching was measured with libfprint 1.94.5, after an enrollment of five normal presses (see
/// `Bench/matcher`).
package enum PressQuality: String, Sendable, CaseIterable {
    /// Straight, in the middle, dry and clean, as people press when they are told to: it matches.
    case careful

    /// Off by up to 15 pixels and 8°, a little stretched, unevenly pressed: it matches.
    case normal

    /// Off by up to 25 pixels and 15°, stretched twice as much, noisy, smaller: it matches with less to spare.
    case hard

    /// A fingertip's edge alone: the scan succeeds, but too few ridge ends are seen for a match.
    case partial

    /// No finger on the glass: libfprint asks for another try (`FP_DEVICE_RETRY_GENERAL`).
    case blank
}

/// An 8-bit grayscale picture: 0 is black (ridge), 255 is white (background).
///
/// It carries no resolution, no color profile and no transparency.
package struct GrayImage: Sendable, Equatable {
    /// The number of pixels in a row.
    package let width: Int

    /// The number of rows.
    package let height: Int

    /// The pixels row by row from the top left, without padding: `width` × `height` bytes.
    package let pixels: [UInt8]

    /// Makes a picture from its pixels, or returns `nil` if their number does not fit the size.
    ///
    /// - Parameters:
    ///   - width: Pixels in a row, at least 1.
    ///   - height: Rows, at least 1.
    ///   - pixels: Row by row from the top left, without padding.
    package init?(width: Int, height: Int, pixels: [UInt8]) {
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
