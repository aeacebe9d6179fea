// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// An exclusive advisory lock on a file (`flock(2)`): one holder at a time, across all processes.
///
/// The kernel releases the lock when the process ends, for any reason. Each lock opens the file itself, so two holders
/// in one process also exclude each other. The file is created if it does not exist. It is never removed, because a
/// lock on a removed file would not exclude the holder of a new one.
package final class FileLock: Sendable {
    /// The descriptor of the open file, which a holder can write to.
    package let descriptor: CInt
    /// Whether another holder had the lock on the first attempt.
    package let hasWaited: Bool
    private let process = getpid()

    private init(owning descriptor: CInt, hasWaited: Bool) {
        self.descriptor = descriptor
        self.hasWaited = hasWaited
    }

    deinit {
        release()
        close(descriptor)
    }

    /// Releases the lock before this value is destroyed; a second call does nothing.
    ///
    /// Closing the file is not enough: a program that another thread is starting shares the open file until it calls
    /// exec. In the child of a fork, this does not unlock the file, because the lock belongs to the parent.
    package func release() {
        if getpid() == process { _ = flock(descriptor, LOCK_UN) }
    }

    /// Acquires the lock as soon as it is free, without blocking a thread.
    ///
    /// The wait is measured by the pauses between attempts, not by a clock. Time during which the machine sleeps, or is
    /// too busy to run this task, does not count.
    ///
    /// - Parameters:
    ///   - path: The lock file.
    ///   - limit: The maximum time to wait.
    ///   - endsWithTask: Whether cancelling the task ends the wait.
    /// - Returns: The lock, which lasts until it is released.
    /// - Throws: `held` after `limit`, `cancelled`, or the reason why the file cannot be used.
    package static func acquire(
        _ path: String,
        within limit: Duration,
        endsWithTask: Bool = true
    ) async throws(FileLockError) -> FileLock {
        var waited = Duration.zero
        var pause = Duration.milliseconds(1)
        while true {
            guard !endsWithTask || !Task.isCancelled else { throw .cancelled }
            switch try attempt(path, hasWaited: waited > .zero) {
            case .taken(let lock): return lock
            case .held(let note):
                guard waited < limit else { throw .held(note) }
            }
            let next = min(pause, limit - waited)
            waited += next
            if endsWithTask {
                // A cancelled wait ends early; the check at the start of the loop detects that.
                _ = await OffPoolTimer.wait(next)
            } else {
                await OffPoolTimer.waitUncancelled(next)
            }
            pause = min(pause * 2, .milliseconds(20))
        }
    }

    /// The result of one attempt to acquire the lock.
    package enum Attempt: Sendable {
        case taken(FileLock)
        /// Another holder has the lock; the text is the beginning of the file's content.
        case held(String)
    }

    /// Acquires the lock if it is free, without waiting.
    ///
    /// - Parameters:
    ///   - path: The lock file, relative to `folder` unless it starts with a slash.
    ///   - folder: A descriptor of the folder that contains it.
    ///   - hasWaited: Whether this is not the first attempt.
    /// - Returns: The lock, or the note of the current holder.
    /// - Throws: The reason why the file cannot be used.
    package static func attempt(
        _ path: String,
        in folder: CInt = AT_FDCWD,
        hasWaited: Bool = false
    ) throws(FileLockError) -> Attempt {
        // O_NONBLOCK: opening a pipe with that name would wait for the other end.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(folder, path, flags, 0o600)
        guard descriptor >= 0 else { throw failure(errno, path, folder) }
        let lock = FileLock(owning: descriptor, hasWaited: hasWaited)
        var opened = stat()
        guard fstat(descriptor, &opened) == 0 else { throw .system(errno) }
        // If the umask removed the owner's own rights, no other program could open the file.
        if opened.st_uid == geteuid(), opened.st_mode & 0o600 != 0o600 {
            _ = fchmod(descriptor, opened.st_mode & 0o777 | 0o600)
        }
        if let fault = FileFault(opened, expecting: S_IFREG) { throw .unusable(fault) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .held(lock.note())
            default: throw .system(errno)
            }
        }
        // The file may have been replaced between opening and locking; a lock on the old one excludes no other program.
        var present = stat()
        guard fstatat(folder, path, &present, AT_SYMLINK_NOFOLLOW) == 0,
            opened.st_ino == present.st_ino, opened.st_dev == present.st_dev
        else { return .held("") }
        return .taken(lock)
    }

    /// Returns the reason why a file cannot be used as a lock; `nil` if it can, or does not exist yet.
    ///
    /// It neither acquires the lock nor creates the file.
    package static func fault(at path: String, in folder: CInt = AT_FDCWD) -> FileFault? {
        var found = stat()
        guard fstatat(folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileFault(found, expecting: S_IFREG)
    }

    /// Writes a note to the file, for programs that find the lock already taken.
    package func write(note: String) {
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = note.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    private func note() -> String {
        var room = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &room, room.count, 0)
        return String(decoding: room.prefix(max(0, count)), as: UTF8.self)
    }

    private static func failure(_ code: CInt, _ path: String, _ folder: CInt) -> FileLockError {
        fault(at: path, in: folder).map { .unusable($0) } ?? .system(code)
    }
}

/// The reason why a lock was not acquired.
package enum FileLockError: Error, Sendable, Hashable {
    /// Another holder has the lock; the text is the holder's note.
    case held(String)
    /// The task was cancelled.
    case cancelled
    /// The file cannot be used as a lock of this user alone, for the given reason.
    case unusable(FileFault)
    /// A system call failed; the number is `errno`.
    case system(CInt)
}

/// The reason why a file or folder is not accessible to this user alone.
package enum FileFault: Sendable, Hashable {
    /// The file is a symbolic link.
    case link
    /// The file is not of the expected kind; the number is its actual kind (`S_IFMT`).
    case kind(mode_t)
    /// The file belongs to the user with this ID.
    case owner(uid_t)
    /// Other users have access to the file; the number is its mode.
    case mode(mode_t)

    /// Checks the result of `stat(2)`.
    ///
    /// Returns `nil` if the file is of the expected kind and only this process's effective user can use it.
    package init?(_ found: stat, expecting kind: mode_t) {
        let present = found.st_mode & S_IFMT
        if present == S_IFLNK {
            self = .link
        } else if present != kind {
            self = .kind(present)
        } else if found.st_uid != geteuid() {
            self = .owner(found.st_uid)
        } else if found.st_mode & 0o077 != 0 {
            self = .mode(found.st_mode & 0o777)
        } else {
            return nil
        }
    }
}
