// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The time since the machine started.
enum MachineBoot {
    /// Returns the identifier of the current boot; `nil` if the system gives none.
    ///
    /// Source: random(4), `/proc/sys/kernel/random/boot_id`.
    static func id() -> String? {
        guard let file = FileHandle(forReadingAtPath: "/proc/sys/kernel/random/boot_id"),
            let data = try? file.readToEnd(), let text = String(bytes: data, encoding: .utf8)
        else { return nil }
        let id = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return id.isEmpty ? nil : id
    }
}
