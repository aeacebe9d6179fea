// SPDX-License-Identifier: Apache-2.0

/// The form of a duration between processes: a number of milliseconds.
extension Duration {
    /// The duration in milliseconds, rounded up, at most the largest number.
    var wholeMilliseconds: Int64 {
        let (seconds, rest) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let more = (rest + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, isTooMuch) = whole.addingReportingOverflow(more)
        return isTooLong || isTooMuch ? .max : sum
    }
}

extension KeyedDecodingContainer {
    /// Reads a duration of zero or more milliseconds.
    func milliseconds(_ key: Key) throws -> Duration {
        let count = try decode(Int64.self, forKey: key)
        guard count >= 0 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "below zero")
        }
        return .milliseconds(count)
    }
}
