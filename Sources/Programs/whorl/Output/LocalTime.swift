// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Times in local form for people; programs get ISO 8601 in UTC.
enum LocalTime {
    /// Returns the day, such as `2026-03-01`.
    static func day(_ date: Date) -> String { text(date, "%F") }

    /// Returns the time of day, such as `17:04:05`.
    static func clock(_ date: Date) -> String { text(date, "%T") }

    /// Returns the day and the time, such as `2026-03-01 17:04:05`.
    static func second(_ date: Date) -> String { text(date, "%F %T") }

    private static func text(_ date: Date, _ format: String) -> String {
        // A stored time may be any number: those outside of the calendar are not shown.
        guard var seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)) else { return "?" }
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
