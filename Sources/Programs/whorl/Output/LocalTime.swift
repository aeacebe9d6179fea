// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Times as people on this machine read them; programs get ISO 8601 in UTC.
enum LocalTime {
    /// Such as `2026-03-01`.
    static func day(_ date: Date) -> String { text(date, "%F") }

    /// Such as `17:04:05`.
    static func clock(_ date: Date) -> String { text(date, "%T") }

    /// Such as `2026-03-01 17:04:05`.
    static func second(_ date: Date) -> String { text(date, "%F %T") }

    private static func text(_ date: Date, _ format: String) -> String {
        // A stored time may be any number: those that no calendar has are not shown.
        guard var seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down)) else { return "?" }
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
