// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import WhorlSecretMemory
package import WhorlService
import WhorlSupport

/// Functions for directories and files that only their owner may read and write.
package enum PrivateFiles {
    /// Creates the directory and its parents with mode 0700, regardless of the umask.
    ///
    /// An existing directory must already be private.
    package static func makeDirectory(_ path: String) throws(ServiceError) {
        if try checkDirectory(path) { return }
        if let parent = parent(of: path) { try makeParents(parent) }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw ServiceError(errno: errno, path: path) }
        // The umask can only have removed the owner's own rights. A directory that another process created is checked
        // below.
        if chmodIfNarrower(path) != 0 { throw ServiceError(errno: errno, path: path) }
        _ = try checkDirectory(path)
    }

    /// Returns whether the directory exists.
    ///
    /// A link to a directory is accepted, because the state may be on another disk.
    ///
    /// - Throws: `tooOpen`, `notWritable`, `failed`.
    package static func checkDirectory(_ path: String) throws(ServiceError) -> Bool {
        var found = stat()
        guard stat(path, &found) == 0 else {
            if errno == ENOENT { return false }
            throw ServiceError(errno: errno, path: path)
        }
        if let fault = FileFault(found, expecting: S_IFDIR) {
            throw ServiceError(folder: fault, path: path)
        }
        return true
    }

    /// Returns whether the file exists.
    ///
    /// - Throws: `tooOpen` if the file is accessible to other users, belongs to another user, or is not a regular file.
    package static func checkFile(_ path: String) throws(ServiceError) -> Bool {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw ServiceError(errno: errno, path: path)
        }
        try checkPlainFile(found, path)
        return true
    }

    /// Checks an open file in the same way as ``checkFile(_:)``.
    package static func checkPlainFile(_ found: stat, _ path: String) throws(ServiceError) {
        if let fault = FileFault(found, expecting: S_IFREG) { throw ServiceError(file: fault, path: path) }
    }

    /// Creates a new, empty file with mode 0600 and returns its descriptor, which the caller must close.
    package static func createExclusively(_ path: String) throws(ServiceError) -> Int32 {
        let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ServiceError(errno: errno, path: path) }
        guard restrict(file) else {
            let code = errno
            close(file)
            unlink(path)
            throw ServiceError(errno: code, path: path)
        }
        return file
    }

    /// Gives a complete file its name, unless that name has been taken in the meantime, and syncs the directory.
    ///
    /// - Returns: `false` if another process has already taken the name. That process's file is not changed.
    package static func publish(_ temporary: String, as path: String, in directory: String)
        throws(ServiceError)
        -> Bool
    {
        var linked = link(temporary, path) == 0
        var code = errno
        if !linked, code == EPERM || code == EOPNOTSUPP {
            // On a file system without links, such as FAT, move the file without replacing another one.
            typealias Call =
                @convention(c) (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>, UInt32) -> CInt
            let move = gnuFunction("renameat2", as: Call.self)
            linked = move?(AT_FDCWD, temporary, AT_FDCWD, path, 1) == 0  // RENAME_NOREPLACE
            code = errno
        }
        unlink(temporary)
        guard linked || code == EEXIST else { throw ServiceError(errno: code, path: path) }
        try syncDirectory(directory)
        return linked
    }

    /// Syncs the names in a directory to the disk.
    package static func syncDirectory(_ path: String) throws(ServiceError) {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw ServiceError(errno: errno, path: path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw ServiceError(errno: errno, path: path) }
    }

    /// Returns a name for a file next to `path` that no other process uses.
    package static func temporaryName(beside path: String) -> String {
        "\(path).\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))\(temporarySuffix)"
    }

    /// The suffix that a file's name has until the file is complete.
    static let temporarySuffix = ".new"

    private static func makeParents(_ path: String) throws(ServiceError) {
        var found = stat()
        if stat(path, &found) == 0 { return }
        if let parent = parent(of: path) { try makeParents(parent) }
        // The XDG Base Directory Specification requires 0700 if the directories are missing.
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw ServiceError(errno: errno, path: path) }
    }

    private static func chmodIfNarrower(_ path: String) -> Int32 {
        var found = stat()
        guard stat(path, &found) == 0 else { return -1 }
        return found.st_mode & 0o777 == found.st_mode & 0o700 ? chmod(path, 0o700) : 0
    }

    private static func parent(of path: String) -> String? {
        let trimmed = path.last == "/" ? String(path.dropLast()) : path
        guard let slash = trimmed.lastIndex(of: "/"), slash != trimmed.startIndex else { return nil }
        return String(trimmed[..<slash])
    }
}

/// Functions that read and write whole private files, which may contain secrets.
extension PrivateFiles {
    /// Returns the contents of a file that only its owner may use, or `nil` if the file does not exist.
    ///
    /// - Throws: `tooOpen`, `notWritable`, or `keyDamaged` if the file is larger than `limit` bytes.
    package static func read(_ path: String, atMost limit: Int) throws(ServiceError) -> SecretBytes? {
        guard try checkFile(path) else { return nil }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw ServiceError(errno: errno, path: path) }
        defer { close(file) }
        // Check again on the open file, because another file may have taken the name in the meantime.
        var found = stat()
        guard fstat(file, &found) == 0 else { throw ServiceError(errno: errno, path: path) }
        try checkPlainFile(found, path)
        let size = Int(found.st_size)
        guard size <= limit else { throw ServiceError(.storeKeyDamaged, path, cause: "\(size) bytes") }
        return try SecretBytes(count: size) { room throws(ServiceError) in
            try fill(room, from: file, path)
        }
    }

    /// Reads exactly as many bytes as fit in the buffer.
    ///
    /// - Throws: `failed` with EIO if there are fewer bytes because the file was truncated while it was being read.
    static func fill(
        _ room: UnsafeMutableRawBufferPointer,
        from file: CInt,
        _ path: String
    ) throws(ServiceError) {
        let count = Glibc.read(file, room.baseAddress, room.count)
        guard count == room.count else { throw ServiceError(errno: count < 0 ? errno : EIO, path: path) }
    }

    /// Writes a new file, which is given its name once it is complete and on the disk.
    ///
    /// If the file system supports it, the file has no name until then, so that a crash does not leave a file behind.
    ///
    /// - Returns: `false` if a file with this name already exists. That file is not changed.
    /// - Throws: `notWritable`, `diskFull`, `failed`.
    package static func publish(
        _ contents: borrowing SecretBytes,
        as path: String,
        in directory: String
    ) throws(ServiceError) -> Bool {
        // O_TMPFILE is missing from Swift's module of the C library; except for O_DIRECTORY, it is the same on every
        // architecture.
        let file = open(directory, 0o20000000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return try publishUnderAName(contents, as: path, in: directory) }
        defer { close(file) }
        try write(contents, to: file, path)
        let linked = linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        guard linked || errno == EEXIST else {
            // For example, if /proc is not mounted.
            return try publishUnderAName(contents, as: path, in: directory)
        }
        try syncDirectory(directory)
        return linked
    }

    private static func publishUnderAName(
        _ contents: borrowing SecretBytes,
        as path: String,
        in directory: String
    ) throws(ServiceError) -> Bool {
        let temporary = temporaryName(beside: path)
        let file = try createExclusively(temporary)
        defer { close(file) }
        do throws(ServiceError) {
            try write(contents, to: file, path)
        } catch {
            unlink(temporary)
            throw error
        }
        return try publish(temporary, as: path, in: directory)
    }

    /// Removes a file and syncs the directory.
    ///
    /// This also succeeds if the file does not exist.
    ///
    /// If a crash in ``publish(_:as:in:)-(String,_,_)`` left a second name for the file, that name is removed as well.
    ///
    /// - Throws: `notWritable`, `failed`.
    package static func remove(_ path: String, in directory: String) throws(ServiceError) {
        try removeTemporaryNames(of: path, in: directory)
        guard unlink(path) == 0 || errno == ENOENT else { throw ServiceError(errno: errno, path: path) }
        try syncDirectory(directory)
    }

    private static func removeTemporaryNames(of path: String, in directory: String) throws(ServiceError) {
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
            guard unlink(other) == 0 || errno == ENOENT else { throw ServiceError(errno: errno, path: other) }
        }
    }

    /// Makes an open file accessible only to its owner, or returns `false` with the reason in `errno` if that fails.
    ///
    /// A file system that does not store permissions, such as FAT, rejects the change and uses the permissions of its
    /// mount for all files.
    private static func restrict(_ file: CInt) -> Bool {
        guard fchmod(file, 0o600) != 0 else { return true }
        let code = errno
        var found = stat()
        let isPrivate =
            fstat(file, &found) == 0 && found.st_mode & 0o077 == 0 && found.st_mode & 0o600 == 0o600
        errno = code
        return isPrivate
    }

    private static func write(
        _ contents: borrowing SecretBytes,
        to file: CInt,
        _ path: String
    ) throws(ServiceError) {
        let size = contents.count
        let written = contents.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        if 0..<size ~= written { throw ServiceError(errno: ENOSPC, path: path) }
        // The umask can only have removed the owner's own rights.
        guard written == size, restrict(file), fsync(file) == 0 else {
            throw ServiceError(errno: errno, path: path)
        }
    }
}
