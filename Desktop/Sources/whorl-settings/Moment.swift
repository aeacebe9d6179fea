// SPDX-License-Identifier: Apache-2.0

import CGTK
import FoundationEssentials

/// Times in the local time zone.
enum Moment {
    /// Returns the day, such as `2026-03-01`.
    static func day(_ date: Date) -> String { text(date, "%F") }

    /// Returns the day and the time, such as `2026-03-01 17:04`.
    static func minute(_ date: Date) -> String { text(date, "%F %R") }

    private static func text(_ date: Date, _ format: String) -> String {
        // A stored time may be any number; times outside of the calendar are not shown.
        guard let seconds = gint64(exactly: date.timeIntervalSince1970.rounded(.down)),
            let time = g_date_time_new_from_unix_local(seconds)
        else { return "?" }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, format) else { return "?" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
