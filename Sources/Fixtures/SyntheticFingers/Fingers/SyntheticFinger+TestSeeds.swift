// SPDX-License-Identifier: Apache-2.0

extension SyntheticFinger {
    /// Fingers for tests: libfprint 1.94.5 takes none of them for another.
    ///
    /// Checked with `Bench/matcher/run test-seeds`: 7 presses of each against all the others, enrolled. Some
    /// synthetic fingers do pass for each other, so a test that needs several takes them from here.
    public static let testSeeds: [UInt64] = Array(1...24)
}
