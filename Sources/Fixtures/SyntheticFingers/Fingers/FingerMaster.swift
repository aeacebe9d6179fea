// SPDX-License-Identifier: Apache-2.0

/// The ridges of a whole finger, before a press distorts them or hides a part of them.
struct FingerMaster: Equatable {
    /// The number of pixels per row of every master and press.
    static let width = 192

    /// The number of rows of every master and press.
    static let height = 256

    /// The height of the skin at each pixel, row by row, from -127 (the bottom of a valley) to 127 (the top of a
    /// ridge).
    ///
    /// Each value has only eight bits so that a finger read from a cache has exactly the same presses as a newly
    /// computed one.
    let relief: [Int8]

    /// Creates a master from a relief of `width` × `height` values, or returns `nil` if the number of values differs.
    init?(relief: [Int8]) {
        guard relief.count == Self.width * Self.height else { return nil }
        self.relief = relief
    }

    /// Grows the finger for `seed`, which takes about 0.03 s, or 0.14 s in an unoptimized build.
    init(seed: UInt64) {
        var random = RandomSource(seed: seed)
        let field = OrientationField(width: Self.width, height: Self.height, random: &random)
        let filters = RidgeFilterBank(period: random.uniform(8.2, 9.6))
        let directions = field.directions(
            width: Self.width,
            height: Self.height,
            count: RidgeFilterBank.directions
        )
        var skin = Skin(width: Self.width, height: Self.height, random: &random)
        for _ in 0..<12 {
            skin.filter(with: filters, along: directions)
        }
        relief = skin.relief
    }
}

/// The skin, which starts as white noise and is turned into ridges by repeated filtering.
private struct Skin {
    private let width: Int
    private let height: Int

    /// The number of floats per row, including a filter's reach on both sides and the padding of a filter's rows.
    private let stride: Int

    /// The heights, surrounded by zeros so that filters do not need bounds checks.
    private var heights: [Float]

    init(width: Int, height: Int, random: inout RandomSource) {
        let reach = RidgeFilterBank.reach
        self.width = width
        self.height = height
        stride = width + 2 * reach + 1
        heights = [Float](repeating: 0, count: stride * (height + 2 * reach) + 1)
        for y in 0..<height {
            for x in 0..<width {
                heights[(y + reach) * stride + x + reach] = Float(random.within(1))
            }
        }
    }

    /// Replaces each pixel with the result of the filter for its direction, clipped to the range -1 to 1.
    ///
    /// This takes most of the time, because it computes 225 products for each pixel. The code is written to be fast in
    /// an unoptimized build, where each statement costs more than its arithmetic. In an optimized build, the optimizer
    /// vectorizes the four sums.
    mutating func filter(with filters: RidgeFilterBank, along directions: [UInt8]) {
        let (width, height, stride) = (width, height, stride)
        let (reach, rows, rowTaps) = (RidgeFilterBank.reach, RidgeFilterBank.rows, RidgeFilterBank.rowTaps)
        var filtered = heights
        heights.withUnsafeBufferPointer { source in
            filtered.withUnsafeMutableBufferPointer { filtered in
                filters.taps.withUnsafeBufferPointer { taps in
                    guard let source = source.baseAddress, let taps = taps.baseAddress else { return }
                    var y = 0
                    while y < height {
                        var x = 0
                        while x < width {
                            var k = taps + Int(directions[y * width + x]) * rows * rowTaps
                            var h = source + y * stride + x
                            let end = k + rows * rowTaps
                            var (a, b, c, d) = (Float(0), Float(0), Float(0), Float(0))
                            while k < end {
                                a = a + h[0] * k[0] + h[4] * k[4] + h[8] * k[8] + h[12] * k[12]
                                b = b + h[1] * k[1] + h[5] * k[5] + h[9] * k[9] + h[13] * k[13]
                                c = c + h[2] * k[2] + h[6] * k[6] + h[10] * k[10] + h[14] * k[14]
                                d = d + h[3] * k[3] + h[7] * k[7] + h[11] * k[11] + h[15] * k[15]
                                k += rowTaps
                                h += stride
                            }
                            let sum = (a + c) + (b + d)
                            filtered[(y + reach) * stride + x + reach] = sum > 1 ? 1 : sum < -1 ? -1 : sum
                            x += 1
                        }
                        y += 1
                    }
                }
            }
        }
        heights = filtered
    }

    var relief: [Int8] {
        var result: [Int8] = []
        result.reserveCapacity(width * height)
        for y in 0..<height {
            let row = (y + RidgeFilterBank.reach) * stride + RidgeFilterBank.reach
            for x in 0..<width {
                result.append(Int8((heights[row + x] * 127).rounded()))
            }
        }
        return result
    }
}
