// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite
import Glibc
package import WhorlService
package import WhorlSupport

/// Conversions of system errors.
extension ServiceError {
    /// Converts a system error number to an error about a private file.
    package init(errno code: Int32, path: String) {
        if let shortage = Self.shortage(code, path: path) {
            self = shortage
            return
        }
        let kind: Code =
            switch code {
            case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP: .storeNotWritable
            case ENOSPC, EDQUOT: .diskFull
            default: .storeFailed
            }
        self.init(kind, path, cause: "errno \(code): \(String(cString: strerror(code)))")
    }

    /// Returns the error for too many open files, or `nil` for any other error number.
    static func shortage(_ code: Int32, path: String) -> ServiceError? {
        let whose: String
        let recovery: String
        switch code {
        case EMFILE:
            whose = "this process has too many files open."
            recovery = "Close some of them, or raise the limit: `ulimit -n 1024`."
        case ENFILE:
            whose = "the system has too many files open."
            recovery = "Quit programs that have many files open; `cat /proc/sys/fs/file-nr` shows the total."
        default: return nil
        }
        return ServiceError(
            .storeFailed,
            path,
            message: "\(path) cannot be opened: \(whose)",
            recovery: recovery,
            cause: "errno \(code): \(String(cString: strerror(code)))"
        )
    }
}

/// Conversions of SQLite errors.
extension ServiceError {
    /// Converts an SQLite error to an error about the state directory.
    init(_ error: any Error, path: String) {
        if let known = error as? ServiceError {
            self = known
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.storeFailed, path, cause: "\(error)")
            return
        }
        // Leave the statement and its arguments out of the cause: they may contain a label or a template. SQLite
        // reports "unable to open database file" without the system's reason.
        if error.kind == .cannotOpen,
            let shortage = Self.shortage(nextDescriptorFailure(), path: path)
        {
            self = shortage
            return
        }
        self.init(Code(error, path: path), path, cause: error.description)
    }
}

extension ServiceError.Code {
    fileprivate init(_ error: DatabaseError, path: String) {
        switch error.kind {
        case .full: self = .diskFull
        case .damaged: self = .storeDamaged
        case .busy: self = .storeBusy
        // SQLite cannot create a file if there are no inodes left, and does not report the reason.
        case .cannotOpen where Self.isFull(path): self = .diskFull
        case .cannotOpen, .notWritable: self = .storeNotWritable
        // A full disk appears as an input/output error if the shared memory of the log cannot grow.
        case .io where Self.isFull(path): self = .diskFull
        case .io, .other: self = .storeFailed
        }
    }

    private static func isFull(_ path: String) -> Bool {
        var disk = statvfs()
        // The file itself may not exist yet.
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard statvfs(path, &disk) == 0 || statvfs(folder, &disk) == 0 else { return false }
        return (disk.f_blocks > 0 && disk.f_bavail == 0) || (disk.f_files > 0 && disk.f_favail == 0)
    }
}

/// Returns the `errno` of a descriptor shortage that prevents a database from being opened, or 0 if there is no
/// shortage.
///
/// SQLite needs one descriptor each for the database, its log, its index and their directory, and has closed them by
/// this point.
func nextDescriptorFailure() -> Int32 {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < 4 {
        let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard next >= 0 else { return errno }
        taken.append(next)
    }
    return 0
}

/// Conversions of problems with files, folders and locks.
extension ServiceError {
    /// Creates an error that describes why a file cannot be trusted, and how to fix it.
    package init(file fault: FileFault, path: String) {
        switch fault {
        case .link, .kind:
            let kind = fault == .link ? "a link" : "not a plain file"
            self.init(
                .storeTooOpen,
                path,
                message: "\(path) is \(kind), not a regular file or folder.",
                recovery: "Check where it comes from, then move it away: `mv \(shellQuoted(path)) /var/tmp/`."
            )
        case .owner, .mode: self.init(access: fault, path: path, closing: "chmod 600")
        }
    }

    /// Creates an error that describes why the state directory cannot be trusted, and how to fix it.
    init(folder fault: FileFault, path: String) {
        switch fault {
        case .link, .kind:
            self.init(
                .storeNotWritable,
                path,
                message: "\(path) is not a directory.",
                recovery: "Move it away, or choose another directory with --state-dir."
            )
        case .owner, .mode: self.init(access: fault, path: path, closing: "chmod 700")
        }
    }

    /// Creates an error that describes why a lock file cannot be used.
    ///
    /// If another process has the lock, the error is `busy`.
    package init(_ error: FileLockError, path: String) {
        switch error {
        case .held, .cancelled: self.init(.storeBusy, path)
        case .unusable(let fault): self.init(file: fault, path: path)
        case .system(let code): self.init(errno: code, path: path)
        }
    }

    private init(access fault: FileFault, path: String, closing command: String) {
        if case .owner(let user) = fault {
            self.init(
                .storeTooOpen,
                path,
                message: "\(path) belongs to another user (uid \(user)).",
                recovery:
                    "Use it as that user, change its owner with `sudo chown \(geteuid()) \(shellQuoted(path))`, "
                    + "or choose another directory with --state-dir."
            )
        } else {
            guard !Self.hasFixedModes(path) else {
                self.init(
                    .storeTooOpen,
                    path,
                    message:
                        "\(path) is on a file system without permissions and is accessible to other users.",
                    recovery:
                        "Choose a directory on another file system with --state-dir, or mount this one with umask=077."
                )
                return
            }
            let mode = if case .mode(let mode) = fault { "0" + String(mode, radix: 8) } else { "unknown" }
            self.init(
                .storeTooOpen,
                path,
                message: "\(path) is accessible to other users (mode \(mode)).",
                recovery: "Restrict it: `\(command) \(shellQuoted(path))`."
            )
        }
    }

    /// Returns whether a file's mode is determined by its mount options, so that chmod(1) has no effect.
    private static func hasFixedModes(_ path: String) -> Bool {
        // statfs(2), which is missing from Swift's module of the C library; the file system type is its first word.
        typealias Call = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Int>) -> CInt
        guard let statfs = gnuFunction("statfs", as: Call.self) else { return false }
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: 64) { room in
            guard let place = room.baseAddress, statfs(path, place) == 0 else { return false }
            // linux/magic.h: FAT, exFAT, and FUSE's block devices, such as ntfs-3g.
            return [0x4d44, 0x2011_bab0, 0x6573_5546].contains(place.pointee)
        }
    }
}
