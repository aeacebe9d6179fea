// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import WhorlService
import WhorlSupport

/// Functions for directories and files that only their owner may read and write.
package enum PrivateFiles {
    /// Creates the directory, and the ones above it, with mode 0700 independent of the umask; an existing one must
    /// already be private.
    package static func makeDirectory(_ path: String) throws(StateError) {
        if try checkDirectory(path) { return }
        if let parent = parent(of: path) { try makeParents(parent) }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw StateError(errno: errno, path: path) }
        // The umask can only have removed the owner's own rights; a directory that another process made is checked
        // below.
        if chmodIfNarrower(path) != 0 { throw StateError(errno: errno, path: path) }
        _ = try checkDirectory(path)
    }

    /// Returns whether the directory exists.
    ///
    /// A link to a directory is accepted: a person may keep the state on another disk.
    ///
    /// - Throws: `tooOpen`, `notWritable`, `failed`.
    package static func checkDirectory(_ path: String) throws(StateError) -> Bool {
        var found = stat()
        guard stat(path, &found) == 0 else {
            if errno == ENOENT { return false }
            throw StateError(errno: errno, path: path)
        }
        if let fault = FileFault(found, expecting: S_IFDIR) {
            throw StateError(folder: fault, path: path)
        }
        return true
    }

    /// Returns whether the file exists.
    ///
    /// - Throws: `tooOpen` if other users may use it, if it belongs to another user, or if it is not a plain file.
    package static func checkFile(_ path: String) throws(StateError) -> Bool {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw StateError(errno: errno, path: path)
        }
        try checkPlainFile(found, path)
        return true
    }

    /// Checks an open file like ``checkFile(_:)``.
    package static func checkPlainFile(_ found: stat, _ path: String) throws(StateError) {
        if let fault = FileFault(found, expecting: S_IFREG) { throw StateError(file: fault, path: path) }
    }

    /// Creates an empty file of mode 0600 that did not exist, and returns its descriptor, which the caller closes.
    package static func createExclusively(_ path: String) throws(StateError) -> Int32 {
        let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StateError(errno: errno, path: path) }
        guard fchmod(file, 0o600) == 0 else {
            let code = errno
            close(file)
            unlink(path)
            throw StateError(errno: code, path: path)
        }
        return file
    }

    /// Gives a finished file its name, unless the name was taken in between, and syncs the directory.
    ///
    /// - Returns: `false` if another process was faster; its file is not changed.
    package static func publish(_ temporary: String, as path: String, in directory: String) throws(StateError)
        -> Bool
    {
        let linked = link(temporary, path) == 0
        let code = errno
        unlink(temporary)
        guard linked || code == EEXIST else { throw StateError(errno: code, path: path) }
        try syncDirectory(directory)
        return linked
    }

    /// Syncs the names in a directory to the disk.
    package static func syncDirectory(_ path: String) throws(StateError) {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw StateError(errno: errno, path: path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw StateError(errno: errno, path: path) }
    }

    /// Returns a name beside `path` that no other process uses.
    package static func temporaryName(beside path: String) -> String {
        "\(path).\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))\(temporarySuffix)"
    }

    /// The end of a file's name until the file is complete.
    static let temporarySuffix = ".new"

    private static func makeParents(_ path: String) throws(StateError) {
        var found = stat()
        if stat(path, &found) == 0 { return }
        if let parent = parent(of: path) { try makeParents(parent) }
        // The XDG Base Directory Specification asks for 0700 if the directories are missing.
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw StateError(errno: errno, path: path) }
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

extension StateError {
    /// Converts an error number of the system to an error for a private file.
    package init(errno code: Int32, path: String) {
        if let shortage = Self.shortage(code, path: path) {
            self = shortage
            return
        }
        let kind: Code =
            switch code {
            case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP: .notWritable
            case ENOSPC, EDQUOT: .diskFull
            default: .failed
            }
        self.init(kind, path: path, cause: "errno \(code): \(String(cString: strerror(code)))")
    }
}
