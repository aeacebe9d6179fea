// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlService

/// The identity of the file that has a name now, so that a program notices when another file has replaced it.
///
/// The inode number alone is not enough: it is given to a new file as soon as the old one is gone.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// The time when the inode last changed, in seconds and nanoseconds.
    private let changed: [Int]

    /// Reads the identity of the file with this name, without following a link; `nil` if there is no file.
    ///
    /// - Throws: `notWritable`, `failed`.
    package init?(at path: String) throws(StateError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw StateError(errno: errno, path: path)
        }
        device = UInt64(found.st_dev)
        inode = UInt64(found.st_ino)
        size = Int64(found.st_size)
        changed = [Int(found.st_ctim.tv_sec), Int(found.st_ctim.tv_nsec)]
    }
}
