// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The identity of an open database's files, for detecting that they were removed or replaced.
///
/// SQLite keeps working with files that no longer have a name. Its commits are then lost, and it does not see the
/// changes that other processes make at the path. The log and its index are part of the database: the same file with a
/// different log is a different database.
struct SQLiteFileIdentity: Sendable {
    private let files: [File]

    /// Records the identity of the files at the path of an open database.
    init(path: String) {
        files = ["", "-wal", "-shm"].map { File(path: path + $0) }
    }

    /// Whether the files at the path are still the ones that were opened.
    var isCurrent: Bool { files.allSatisfy { File(path: $0.path) == $0 } }

    /// Returns whether the given status is that of the database file itself.
    func isDatabase(_ status: stat) -> Bool {
        files.first.map { $0.exists && $0.device == status.st_dev && $0.node == status.st_ino } ?? false
    }

    private struct File: Equatable {
        let path: String
        let exists: Bool
        let device: dev_t
        let node: ino_t

        init(path: String) {
            var status = stat()
            self.path = path
            exists = lstat(path, &status) == 0
            device = exists ? status.st_dev : 0
            node = exists ? status.st_ino : 0
        }
    }
}
