// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that a command writes completely or not at all, and that only this user can read.
struct OutputFile {
    let path: String
    /// The description of the file's content, for error messages.
    let content: String

    /// Checks whether the file can be written, before any prompt.
    ///
    /// Only a regular file is replaced, because renaming another file over a device, a pipe or a link would remove it.
    /// A file of another user is not replaced either: that user would own the new content, or lose the file.
    func check() throws(Failure) { _ = try owner() }

    /// Checks as ``check()`` does.
    ///
    /// - Returns: The user and the group to which the new file must belong, if it replaces a file of the user who ran
    ///   sudo; `nil` for those of this process.
    private func owner() throws(Failure) -> (user: UInt32, group: UInt32)? {
        var present = stat()
        let exists = lstat(path, &present) == 0
        if exists, present.st_mode & S_IFMT != S_IFREG {
            let isFolder = present.st_mode & S_IFMT == S_IFDIR
            throw failure(isFolder ? String(cString: strerror(EISDIR)) : "it is not a regular file")
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(String(cString: strerror(errno))) }
        guard exists, present.st_uid != geteuid() else { return nil }
        guard geteuid() == 0, present.st_uid == Self.sudoUser else {
            throw failure("the file belongs to another user")
        }
        return (present.st_uid, present.st_gid)
    }

    /// The user who ran sudo, according to the variable that sudo sets.
    ///
    /// Another program with root privileges can set it too, but only for itself.
    private static var sudoUser: UInt32? { getenv("SUDO_UID").flatMap { UInt32(String(cString: $0)) } }

    /// Writes a new file next to the old one and then renames it, so that no other program sees an incomplete file.
    func replace(with bytes: [UInt8]) throws(Failure) {
        let owner = try owner()
        let draft = path + "." + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        var error = Self.write(bytes, to: file)
        if error == 0, let owner, fchown(file, owner.user, owner.group) != 0 { error = errno }
        if error == 0, fsync(file) != 0 { error = errno }
        if close(file) != 0, error == 0 { error = errno }
        if error == 0, rename(draft, path) != 0 { error = errno }
        guard error == 0 else {
            unlink(draft)
            throw failure(String(cString: strerror(error)))
        }
    }

    /// Writes all bytes, and returns 0 or the `errno`.
    private static func write(_ bytes: [UInt8], to file: CInt) -> CInt {
        var done = 0
        while done < bytes.count {
            let written = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return errno }
            done += written
        }
        return 0
    }

    private func failure(_ reason: String) -> Failure {
        Failure(
            code: "unwritable",
            status: .storeFailed,
            message: "Cannot write the \(content): \(reason).",
            recovery: "Check that the folder exists and that you may write to it."
        )
    }
}
