// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints rows: what, the measured figures, the bar, the verdict.
struct Table {
    /// Whether enough was measured for a verdict.
    let isComplete: Bool

    /// A time against another: both typical values and 90th percentiles, and the ratio against its bar.
    func row(_ what: String, _ one: Figures, against other: Figures, bar: Double?) {
        let ratio = Ratio(one, to: other)
        let figures =
            "\(text(one)) against \(text(other)): **\(number(ratio.value))** "
            + "(\(number(ratio.low)) to \(number(ratio.high)))"
        guard let bar else { return row(what, figures, bar: "", isMet: nil) }
        row(what, figures, bar: "≤ \(number(bar))", isMet: ratio.value <= bar)
    }

    /// Any figures; `isMet` is `nil` where there is no bar.
    func row(_ what: String, _ figures: String, bar: String, isMet: Bool?) {
        let verdict =
            switch isMet {
            case nil: ""
            case _ where !isComplete: "not judged"
            case true?: "met"
            case false?: "**missed**"
            }
        print("| \(what) | \(figures) | \(bar) | \(verdict) |")
        fflush(nil)
    }

    private func text(_ figures: Figures) -> String {
        "\(number(figures.typical)) (p90 \(number(figures.p90))) ms"
    }

    private func number(_ value: Double) -> String { String(format: value < 10 ? "%.3f" : "%.1f", value) }
}
