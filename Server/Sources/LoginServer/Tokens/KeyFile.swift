// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import Glibc

/// The file with the key that seals the signing keys: 32 bytes, readable only by the server.
///
/// It is the server's own, and closed to all others, or root's: systemd and Kubernetes put secrets into files of root's
/// that the server's group may read, behind symbolic links.
enum KeyFile {
    /// Reads the file.
    static func open(_ path: String) throws(ServerError) -> SymmetricKey {
        guard let key = try read(path) else {
            throw ServerError(
                .keyFile,
                "there is no key file \(path)",
                hint:
                    "give the --key-file that goes with the database; for a new database: init; if it is lost or stolen: key rotate --revoke"
            )
        }
        return key
    }

    /// Whether the file exists, readable or not.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Reads the file; makes it if it is missing.
    static func openOrMake(_ path: String) throws(ServerError) -> SymmetricKey {
        if let key = try read(path) { return key }
        try create(path)
        guard let key = try read(path) else {
            throw ServerError(.keyFile, "\(path) went away while it was made")
        }
        return key
    }

    private static func read(_ path: String) throws(ServerError) -> SymmetricKey? {
        // What a symbolic link leads to is judged by its owner and mode.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw ServerError(.keyFile, "\(path) cannot be read: \(reason())")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(.keyFile, "\(path) is no file")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
            throw ServerError(
                .keyFile,
                "\(path) belongs to somebody else",
                hint: "chown it to the server's user"
            )
        }
        let others: mode_t = status.st_uid == 0 ? 0o037 : 0o077
        guard status.st_mode & others == 0 else {
            throw ServerError(.keyFile, "others may use \(path)", hint: "chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: 33)
        guard unsafe Glibc.read(file, &bytes, 33) == 32 else {
            throw ServerError(.keyFile, "\(path) is not a key of 32 bytes", hint: "give another --key-file")
        }
        return SymmetricKey(data: bytes.prefix(32))
    }

    /// Writes a new key to a draft file and links it to its place, so that no process reads a partial key, and two
    /// processes that make one at the same time use the same.
    private static func create(_ path: String) throws(ServerError) {
        // The name is random, since a killed process leaves its draft, and all processes in containers have the same
        // number.
        let draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        let file = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ServerError(.keyFile, "\(draft) cannot be made: \(reason())") }
        defer { unlink(draft) }
        let written = SymmetricKey(size: .bits256).withUnsafeBytes {
            unsafe write(file, $0.baseAddress, $0.count)
        }
        let isDurable = fsync(file) == 0
        close(file)
        guard written == 32, isDurable else {
            throw ServerError(.keyFile, "\(draft) cannot be written: \(reason())")
        }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw ServerError(.keyFile, "\(path) cannot be made: \(reason())")
        }
        let folder = (path as NSString).deletingLastPathComponent
        let directory = unsafe Glibc.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    private static func reason() -> String { unsafe String(cString: strerror(errno)) }
}
