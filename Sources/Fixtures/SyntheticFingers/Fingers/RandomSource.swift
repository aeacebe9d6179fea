// SPDX-License-Identifier: Apache-2.0

/// The stream of random numbers that a seed stands for (splitmix64).
///
/// Nothing here is secret, and nothing secret may come from here.
struct RandomSource {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// The stream of one press of a finger, unrelated to that of the finger and of its other presses.
    init(seed: UInt64, press: Int) {
        var finger = RandomSource(seed: seed)
        var index = RandomSource(seed: UInt64(bitPattern: Int64(press)) ^ 0x7072_6573_7365_7321)
        state = finger.next() ^ index.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }

    /// A number from 0 up to, but not including, 1: the top 53 bits.
    mutating func unit() -> Double {
        Double(Int64(truncatingIfNeeded: next() &>> 11)) * 0x1p-53
    }

    mutating func uniform(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * unit()
    }

    /// A number from -`bound` to `bound`.
    mutating func within(_ bound: Double) -> Double {
        uniform(-bound, bound)
    }

    mutating func sign() -> Double {
        next() &>> 63 == 0 ? 1 : -1
    }

    /// One of 0 ..< `count`.
    mutating func choice(of count: Int) -> Int {
        Int(unit() * Double(count))
    }

    /// Nearly normal, mean 0 and standard deviation 1, never beyond ±2√3: the sum of four uniform numbers.
    mutating func gaussian() -> Double {
        (unit() + unit() + unit() + unit() - 2) * 1.732_050_807_568_877_2
    }
}
