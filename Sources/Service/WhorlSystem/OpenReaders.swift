// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import WhorlFingerprint
import WhorlService

/// The service's record of readers that others could open, with the time when this was last observed.
///
/// The service updates the record before it uses such a reader. Prints that were enrolled before that time are no
/// longer trusted.
package final class OpenReaders: Sendable {
    private let path: String
    private let seen: Mutex<[String: Date]?>

    /// Reads the record from a file.
    ///
    /// If it cannot be read, every reader is treated as having been open until now.
    package init(path: String) {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else {
            seen = Mutex([:])
            return
        }
        let data = FileManager.default.contents(atPath: path)
        // A damaged file says nothing about any reader.
        seen = Mutex(data.flatMap { try? JSONDecoder().decode([String: Date].self, from: $0) })
    }

    /// Records that others can currently open a reader.
    ///
    /// - Throws: Always `readerNotPermitted` with the reason, because the reader must not be used.
    func refuse(_ reader: ReaderInfo) throws(ServiceError) {
        let cause: String = seen.withLock { seen in
            var all = seen ?? [:]
            all[reader.id.rawValue] = Date()
            seen = all
            do {
                try JSONEncoder().encode(all).write(to: URL(fileURLWithPath: path), options: .atomic)
                return "open to \(reader.access.details.joined(separator: ", "))"
            } catch {
                return "it could not be recorded in \(path): \(error)"
            }
        }
        throw ServiceError(
            .readerNotPermitted,
            message: "The fingerprint reader is not trusted, because other programs can open it.",
            recovery: "Ask an administrator to restrict it (`whorl doctor` shows how), then enroll again.",
            cause: cause
        )
    }

    /// Returns whether a finger's reader was found open after the finger was enrolled.
    func wereFound(after finger: EnrolledFinger) -> Bool {
        seen.withLock { seen in
            guard let seen else { return true }
            return seen[finger.reader.rawValue].map { $0 >= finger.enrolledAt } ?? false
        }
    }
}
