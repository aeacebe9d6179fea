// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SecretMemory

/// Whole private files, which hold secrets among other things.
extension PrivateFiles {
    /// The contents of a file that its owner alone may use; `nil` when there is none.
    ///
    /// - Throws: `tooOpen`, `notWritable`; `keyDamaged` when it is larger than `limit` bytes.
    package static func read(_ path: String, atMost limit: Int) throws(StateError) -> SecretBytes? {
        guard try checkFile(path) else { return nil }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw StateError(errno: errno, path: path) }
        defer { close(file) }
        // Checked again on what was opened: the name may have been given to another file meanwhile.
        var found = stat()
        guard fstat(file, &found) == 0 else { throw StateError(errno: errno, path: path) }
        try checkPlainFile(found, path)
        let size = Int(found.st_size)
        guard size <= limit else { throw StateError(.keyDamaged, path: path, cause: "\(size) bytes") }
        return try SecretBytes(count: size) { room throws(StateError) in
            guard Glibc.read(file, room.baseAddress, room.count) == room.count else {
                throw StateError(errno: errno, path: path)
            }
        }
    }

    /// Writes a file that was not there: it gets its name when it is whole and on the disk.
    ///
    /// - Returns: `false` when there is one of this name, which is left alone.
    /// - Throws: `notWritable`, `diskFull`, `failed`.
    package static func publish(
        _ contents: borrowing SecretBytes,
        as path: String,
        in directory: String
    ) throws(StateError) -> Bool {
        let temporary = temporaryName(beside: path)
        try write(contents, to: temporary)
        return try publish(temporary, as: path, in: directory)
    }

    /// Removes a file, and brings that onto the disk; one that is not there is removed already.
    ///
    /// - Throws: `notWritable`, `failed`.
    package static func remove(_ path: String, in directory: String) throws(StateError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw StateError(errno: errno, path: path) }
        try syncDirectory(directory)
    }

    private static func write(_ contents: borrowing SecretBytes, to path: String) throws(StateError) {
        let file = try createExclusively(path)
        defer { close(file) }
        let size = contents.count
        let written = contents.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == size, fsync(file) == 0 else {
            let code = written >= 0 && written < size ? ENOSPC : errno
            unlink(path)
            throw StateError(errno: code, path: path)
        }
    }
}
