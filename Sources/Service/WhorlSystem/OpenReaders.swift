// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import WhorlFingerprint
import WhorlService

/// The service's record of readers that others could open, and when this was last observed.
///
/// The service updates it before using such a reader. Prints that were enrolled earlier are not trusted afterwards.
package final class OpenReaders: Sendable {
    private let path: String
    private let seen: Mutex<[String: Date]?>

    /// Reads the record from a file; if it cannot be read, every reader counts as open until now.
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
    /// - Throws: `readerNotPermitted` with the reason, always: the reader is not used.
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

    /// Returns whether a reader was found open after a finger was enrolled on it.
    func wereFound(after finger: EnrolledFinger) -> Bool {
        seen.withLock { seen in
            guard let seen else { return true }
            return seen[finger.reader.rawValue].map { $0 >= finger.enrolledAt } ?? false
        }
    }
}
