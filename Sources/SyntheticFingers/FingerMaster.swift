// SPDX-License-Identifier: Apache-2.0

/// The ridges of a whole finger, before any press distorts or hides a part of them.
struct FingerMaster: Equatable {
    /// Pixels in a row of every master and press.
    static let width = 192

    /// Rows of every master and press.
    static let height = 256

    /// The height of the skin at each pixel, row by row, from -127 (the bottom of a valley) to 127 (the top of a ridge).
    ///
    /// Eight bits, so that a finger read back from a cache gives the very same presses as one computed anew.
    let relief: [Int8]

    /// Takes a relief of `width` × `height` values, or returns `nil` if their number is another.
    init?(relief: [Int8]) {
        guard relief.count == Self.width * Self.height else { return nil }
        self.relief = relief
    }

    /// Grows the finger that `seed` stands for. It takes time: see `SyntheticFinger`.
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

/// White noise that repeated filtering turns into ridges.
private struct Skin {
    private let width: Int
    private let height: Int

    /// Floats in a row, which has room for a filter's reach on both sides and for the filler of its last vector.
    private let stride: Int

    /// The heights, framed by zeros so that filters need not look where the picture ends.
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

    /// Replaces each pixel by what the filter of its direction finds around it, clipped to -1 ... 1.
    ///
    /// This is where the time goes: 15 products of 16 numbers for each pixel. `while`, raw loads and whole vectors keep
    /// it quick without the optimiser too.
    mutating func filter(with filters: RidgeFilterBank, along directions: [UInt8]) {
        let (width, height, stride) = (width, height, stride)
        let (reach, rows) = (RidgeFilterBank.reach, RidgeFilterBank.rows)
        let rowBytes = stride * MemoryLayout<Float>.stride
        var filtered = heights
        heights.withUnsafeBytes { heights in
            filtered.withUnsafeMutableBufferPointer { filtered in
                filters.taps.withUnsafeBufferPointer { taps in
                    directions.withUnsafeBufferPointer { directions in
                        var y = 0
                        while y < height {
                            var x = 0
                            while x < width {
                                var tap = Int(directions[y * width + x]) * rows
                                let end = tap + rows
                                var offset = y * rowBytes + x * MemoryLayout<Float>.stride
                                var sum = RidgeFilterBank.Row(repeating: 0)
                                while tap < end {
                                    sum +=
                                        heights.loadUnaligned(fromByteOffset: offset, as: RidgeFilterBank.Row.self)
                                        * taps[tap]
                                    tap += 1
                                    offset += rowBytes
                                }
                                let total = Self.total(sum)
                                filtered[(y + reach) * stride + x + reach] =
                                    total > 1 ? 1 : total < -1 ? -1 : total
                                x += 1
                            }
                            y += 1
                        }
                    }
                }
            }
        }
        heights = filtered
    }

    /// The sum of a vector's numbers, always added in the same order.
    private static func total(_ v: SIMD16<Float>) -> Float {
        let eight = v.lowHalf + v.highHalf
        let four = eight.lowHalf + eight.highHalf
        return (four.x + four.z) + (four.y + four.w)
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
