// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Which file has a name at the moment, so that a program notices when another one has taken its place.
///
/// The inode's number alone does not tell: it is given to a new file as soon as the old one is gone.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// When the inode last changed, in seconds and nanoseconds.
    private let changed: [Int]

    /// The file of this name, which is not followed where it is a link; `nil` when there is none.
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
