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
            try fill(room, from: file, path)
        }
    }

    /// Reads exactly as many bytes as there is room for.
    ///
    /// - Throws: `failed` with EIO when there are fewer: the file was cut while it was read.
    static func fill(
        _ room: UnsafeMutableRawBufferPointer,
        from file: CInt,
        _ path: String
    ) throws(StateError) {
        let count = Glibc.read(file, room.baseAddress, room.count)
        guard count == room.count else { throw StateError(errno: count < 0 ? errno : EIO, path: path) }
    }

    /// Writes a file that was not there: it gets its name when it is whole and on the disk.
    ///
    /// Until then it has no name where the file system can do that, so that a crash leaves none behind.
    ///
    /// - Returns: `false` when there is one of this name, which is left alone.
    /// - Throws: `notWritable`, `diskFull`, `failed`.
    package static func publish(
        _ contents: borrowing SecretBytes,
        as path: String,
        in directory: String
    ) throws(StateError) -> Bool {
        // O_TMPFILE, which Swift's module of the C library leaves out: the same on every architecture but for O_DIRECTORY.
        let file = open(directory, 0o20000000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return try publishUnderAName(contents, as: path, in: directory) }
        defer { close(file) }
        try write(contents, to: file, path)
        let linked = linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        guard linked || errno == EEXIST else {
            // Without /proc, for one.
            return try publishUnderAName(contents, as: path, in: directory)
        }
        try syncDirectory(directory)
        return linked
    }

    private static func publishUnderAName(
        _ contents: borrowing SecretBytes,
        as path: String,
        in directory: String
    ) throws(StateError) -> Bool {
        let temporary = temporaryName(beside: path)
        let file = try createExclusively(temporary)
        defer { close(file) }
        do throws(StateError) {
            try write(contents, to: file, path)
        } catch {
            unlink(temporary)
            throw error
        }
        return try publish(temporary, as: path, in: directory)
    }

    /// Removes a file, and brings that onto the disk; one that is not there is removed already.
    ///
    /// A second name of the file goes too, which a crash in ``publish(_:as:in:)-(String,_,_)`` may have left.
    ///
    /// - Throws: `notWritable`, `failed`.
    package static func remove(_ path: String, in directory: String) throws(StateError) {
        try removeTemporaryNames(of: path, in: directory)
        guard unlink(path) == 0 || errno == ENOENT else { throw StateError(errno: errno, path: path) }
        try syncDirectory(directory)
    }

    private static func removeTemporaryNames(of path: String, in directory: String) throws(StateError) {
        var file = stat()
        guard lstat(path, &file) == 0, file.st_nlink > 1, let names = opendir(directory) else { return }
        defer { closedir(names) }
        while let entry = readdir(names) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let other = directory + "/" + name
            var found = stat()
            guard name.hasSuffix(temporarySuffix), lstat(other, &found) == 0, found.st_ino == file.st_ino,
                found.st_dev == file.st_dev
            else { continue }
            guard unlink(other) == 0 || errno == ENOENT else { throw StateError(errno: errno, path: other) }
        }
    }

    private static func write(
        _ contents: borrowing SecretBytes,
        to file: CInt,
        _ path: String
    ) throws(StateError) {
        let size = contents.count
        let written = contents.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        if 0..<size ~= written { throw StateError(errno: ENOSPC, path: path) }
        // The umask can only have taken the owner's own rights away.
        guard written == size, fchmod(file, 0o600) == 0, fsync(file) == 0 else {
            throw StateError(errno: errno, path: path)
        }
    }
}
