// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Times of one kind of call.
struct Times: Sendable {
    private var values: [Double] = []

    var count: Int { values.count }

    mutating func append(_ value: Double) { values.append(value) }
    mutating func append(_ others: Times) { values += others.values }

    func quantile(_ part: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    func text(_ part: Double) -> String { String(format: "%.1f", quantile(part)) }
}

/// The rows that are printed.
struct Table {
    /// Whether enough is measured for a verdict.
    let isJudged: Bool
    /// Whether only the numbers are printed.
    let isOfValues: Bool

    func row(
        _ number: (name: String, value: Double),
        _ what: String,
        _ measured: String,
        _ bar: String,
        _ isMet: Bool
    ) {
        guard !isOfValues else {
            let line = "\(number.name) \(String(format: "%.2f", number.value))\n"
            return FileHandle.standardOutput.write(Data(line.utf8))
        }
        let verdict = !isJudged ? "not judged" : isMet ? "met" : "**missed**"
        FileHandle.standardOutput.write(Data("| \(what) | \(measured) | \(bar) | \(verdict) |\n".utf8))
    }
}

/// The memory of a process, in MiB.
struct Memory {
    /// All that is in memory, pages of files that other processes share among it (`VmRSS`).
    let resident: Double
    /// The part that no file backs (`RssAnon`).
    let own: Double

    init(of process: Int32) throws {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        func mebibytes(_ name: String) throws -> Double {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
                throw BenchFault("\(name) of \(process)")
            }
            return number / 1024
        }
        resident = try mebibytes("VmRSS")
        own = try mebibytes("RssAnon")
    }
}
