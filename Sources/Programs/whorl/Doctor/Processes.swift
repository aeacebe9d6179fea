// SPDX-License-Identifier: Apache-2.0

import WhorlSupport

/// The running processes.
enum Processes {
    /// Returns the first process with this name; `nil` if none is running.
    static func named(_ name: String) -> Int? {
        Files.names(in: "/proc").compactMap { Int($0) }.sorted()
            .first { Files.word("/proc/\($0)/comm") == name }
    }
}
