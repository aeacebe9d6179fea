// SPDX-License-Identifier: Apache-2.0

/// A finger that does not exist, whose presses libfprint's matcher treats as it treats real ones.
///
/// Presses of one finger match each other. Presses of two fingers seldom do, in about 2 of 10 000 pairs (see
/// `Bench/matcher`), and in none of those of `testSeeds`. A seed gives the same finger, and a seed and an
/// index the same press, on every machine and in every build.
///
/// It is for tests and demonstrations. It copies no living person's print, and it cannot be used to make one.
public struct SyntheticFinger: Sendable {
    /// Pixels in a row of every press.
    public static let width = FingerMaster.width

    /// Rows of every press.
    public static let height = FingerMaster.height

    /// The number that the finger grew from.
    public let seed: UInt64

    private let master: FingerMaster

    /// Grows the finger of `seed`, or takes it from the cache `FingerCache.standard` if it is there.
    ///
    /// - Parameter seed: Any number.
    public init(seed: UInt64) {
        self.init(seed: seed, cache: .standard)
    }

    /// Grows the finger of `seed`, or takes it from `cache` if it is there.
    ///
    /// - Parameters:
    ///   - seed: Any number.
    ///   - cache: Where grown fingers are kept; `nil` to keep none.
    public init(seed: UInt64, cache: FingerCache?) {
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
    public func press(_ index: Int, quality: PressQuality = .normal) -> GreyImage {
        guard quality != .blank else { return FingerPress.blank }
        return FingerPress(quality: quality, random: RandomSource(seed: seed, press: index)).image(of: master)
    }
}
