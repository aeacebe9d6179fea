// SPDX-License-Identifier: Apache-2.0

/// Filters that strengthen ridges of one period, with one filter for each of 16 directions.
///
/// A filter is a cosine across the ridge under an elliptical bell that is wider across the ridge than along it. The
/// usual shape, which is the opposite, draws cleaner ridges but arranges their ends and forks in regular fans. Prints
/// of different fingers then match several times as often.
struct RidgeFilterBank {
    /// The number of directions, which divide half a turn evenly.
    static let directions = 16

    /// The number of pixels from the center of a filter to its edge.
    static let reach = 7

    /// The number of rows of a filter.
    static let rows = 2 * reach + 1

    /// The number of taps per row.
    ///
    /// There is one for each of 15 pixels, and a zero to make the number a multiple of four.
    static let rowTaps = rows + 1

    /// The taps of all filters, direction by direction and row by row.
    let taps: [Float]

    /// Creates the filters for ridges that are `period` pixels apart.
    init(period: Double) {
        var taps: [Float] = []
        for direction in 0..<Self.directions {
            taps += Self.filter(
                angle: Double(direction) * PortableMath.pi / Double(Self.directions),
                period: period
            )
        }
        self.taps = taps
    }

    private static func filter(angle: Double, period: Double) -> [Float] {
        let (across, along) = (4.0, 2.5)
        let (sin, cos) = PortableMath.sinAndCos(angle)
        var bell = [Double]()
        var wave = [Double]()
        for y in -reach...reach {
            for x in -reach...reach {
                let u = Double(y) * cos - Double(x) * sin
                let v = Double(x) * cos + Double(y) * sin
                bell.append(PortableMath.exp(-u * u / (2 * across * across) - v * v / (2 * along * along)))
                wave.append(PortableMath.cos(2 * PortableMath.pi * u / period))
            }
        }
        // Without the mean, a flat patch stays flat instead of turning black or white.
        let mean = zip(bell, wave).reduce(0) { $0 + $1.0 * $1.1 } / bell.reduce(0, +)
        let kernel = zip(bell, wave).map { $0 * ($1 - mean) }
        let gain = 3 / kernel.reduce(0) { $0 + $1.magnitude }

        var taps: [Float] = []
        for (index, tap) in kernel.enumerated() {
            taps.append(Float(tap * gain))
            if index % rows == rows - 1 { taps.append(0) }
        }
        return taps
    }
}
