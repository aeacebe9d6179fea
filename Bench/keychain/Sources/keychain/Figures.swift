// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How long a call took on both sides, round by round, in microseconds.
struct Figures {
    private var ours: [Double] = []
    private var bare: [Double] = []

    /// Takes one round; who is first, changes, so that neither always has the disk warm.
    mutating func take(round: Int, ours: () throws -> Void, bare: () throws -> Void) rethrows {
        if round.isMultiple(of: 2) {
            self.ours.append(try time(ours))
            self.bare.append(try time(bare))
        } else {
            self.bare.append(try time(bare))
            self.ours.append(try time(ours))
        }
    }

    private func time(_ body: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(body) / .microseconds(1)
    }

    /// Median and 90th percentile of both sides, the ratio of the medians, and its least and greatest in ten blocks.
    var line: String {
        let ratios = blocks(10).map { $0 / $1 }
        return String(
            format: "%.1f %.1f %.1f %.1f %.2f %.2f %.2f",
            quantile(ours[...], 0.5),
            quantile(ours[...], 0.9),
            quantile(bare[...], 0.5),
            quantile(bare[...], 0.9),
            quantile(ours[...], 0.5) / quantile(bare[...], 0.5),
            ratios.min() ?? .nan,
            ratios.max() ?? .nan
        )
    }

    private func blocks(_ count: Int) -> [(Double, Double)] {
        let size = max(1, ours.count / count)
        return stride(from: 0, to: ours.count - size + 1, by: size).map {
            (quantile(ours[$0..<$0 + size], 0.5), quantile(bare[$0..<$0 + size], 0.5))
        }
    }

    private func quantile(_ values: ArraySlice<Double>, _ part: Double) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[Int(Double(sorted.count - 1) * part)]
    }
}
