// SPDX-License-Identifier: Apache-2.0

/// What was measured of one thing, in milliseconds, for each of the presses that it was measured with.
///
/// Some presses take libfprint twice as long as others. The median over all of them would lie between two groups and
/// jump; so each press has its median, and the figure is their mean.
struct Figures {
    private var values: [[Double]]

    init(presses: Int) { values = Array(repeating: [], count: presses) }

    private init(_ values: [[Double]]) { self.values = values }

    mutating func append(nanoseconds: Int, press: Int) { values[press].append(Double(nanoseconds) / 1e6) }

    /// The mean over the presses of each one's median.
    var typical: Double {
        values.map { Figures.quantile(0.5, of: $0) }.reduce(0, +) / Double(values.count)
    }

    /// The 90th percentile over everything.
    var p90: Double { Figures.quantile(0.9, of: values.flatMap { $0 }) }

    /// As many values, drawn from these at random.
    fileprivate func resampled(_ random: inout Random) -> Figures {
        Figures(values.map { kept in kept.map { _ in kept.randomElement(using: &random) ?? 0 } })
    }

    fileprivate static func quantile(_ part: Double, of values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}

/// How one thing compares with another: the ratio of the typical values.
struct Ratio {
    let value: Double
    /// Between which values the ratio would be with other samples of the same kind, 95 of 100 times (a bootstrap of
    /// 2,000); it knows nothing of a machine that is busier at another time.
    let low: Double
    let high: Double

    init(_ one: Figures, to other: Figures) {
        value = one.typical / other.typical
        var random = Random()
        let ratios = (0..<2000).map { _ in one.resampled(&random).typical / other.resampled(&random).typical }
        low = Figures.quantile(0.025, of: ratios)
        high = Figures.quantile(0.975, of: ratios)
    }
}

/// The same numbers each time (SplitMix64).
private struct Random: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
