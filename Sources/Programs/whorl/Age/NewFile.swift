// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that a command creates, that only this user can read, and that replaces no other one.
///
/// Unless it is written, it is removed at the end.
final class NewFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Creates the file, before any prompt.
    ///
    /// - Throws: A usage error if the file exists or cannot be created.
    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw .usage("The file “\(path)” exists.", hint: "Choose another name.") }
            throw .usage(
                "The file “\(path)” cannot be created: \(String(cString: strerror(errno))).",
                hint: "Choose another folder."
            )
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        var (made, named) = (stat(), stat())
        if fstat(descriptor, &made) == 0, made.st_size == 0, lstat(path, &named) == 0,
            made.st_ino == named.st_ino, made.st_dev == named.st_dev
        {
            unlink(path)
        }
        close(descriptor)
    }

    /// Writes the whole content.
    ///
    /// - Throws: An error if the disk does not take it.
    func write(_ text: String) throws(Failure) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    private func failure() -> Failure {
        let reason = String(cString: strerror(errno))
        _ = ftruncate(descriptor, 0)
        return Failure(
            code: "unwritable",
            message: "The file “\(path)” cannot be written: \(reason).",
            recovery: "Free some space, or choose another folder."
        )
    }
}
