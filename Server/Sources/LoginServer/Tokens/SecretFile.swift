// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A small file with a secret, readable only by the server.
///
/// It belongs to the server and is closed to all others, or it belongs to root: systemd and Kubernetes put secrets into
/// root's files, readable by the server's group, behind symbolic links.
enum SecretFile {
    /// Reads the file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - count: The maximum number of bytes; if the file is longer, one more is returned.
    /// - Returns: The bytes; `nil` if the file does not exist.
    /// - Throws: ``ServerError`` if it cannot be read, or other users can access it.
    static func read(_ path: String, atMost count: Int) throws(ServerError) -> Data? {
        // The target of a symbolic link is checked for its owner and mode.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw ServerError(.keyFile, "cannot read \(path): \(reason())")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(.keyFile, "\(path) is not a regular file")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
            throw ServerError(
                .keyFile,
                "\(path) belongs to another user",
                hint: "chown it to the server's user"
            )
        }
        let others: mode_t = status.st_uid == 0 ? 0o037 : 0o077
        guard status.st_mode & others == 0 else {
            throw ServerError(.keyFile, "\(path) is accessible to other users", hint: "chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: count + 1)
        let size = unsafe Glibc.read(file, &bytes, bytes.count)
        guard size >= 0 else { throw ServerError(.keyFile, "cannot read \(path): \(reason())") }
        return Data(bytes.prefix(size))
    }

    static func reason() -> String { unsafe String(cString: strerror(errno)) }
}
