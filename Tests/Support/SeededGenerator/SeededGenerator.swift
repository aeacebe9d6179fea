// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Random numbers that come again with their seed (splitmix64), for tests that must be repeatable.
///
/// `WHORL_SEED` names the seed; without it each run has another one.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// The seed of this run, to be told with each failure.
    package static let seed: UInt64 =
        ProcessInfo.processInfo.environment["WHORL_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64(UInt32.max))

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }
}
