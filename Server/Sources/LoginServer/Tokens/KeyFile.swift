// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import Glibc

/// The file with the key that seals the signing keys: 32 bytes in a ``SecretFile``.
enum KeyFile {
    /// Reads the file.
    static func open(_ path: String) throws(ServerError) -> SymmetricKey {
        guard let key = try read(path) else {
            throw ServerError(
                .keyFile,
                "key file \(path) not found",
                hint:
                    "use the database's --key-file; for a new database, run init; if the key file is lost or stolen, run key rotate --revoke"
            )
        }
        return key
    }

    /// Returns whether the file exists, readable or not.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Reads the file, creating it if it is missing.
    static func openOrMake(_ path: String) throws(ServerError) -> SymmetricKey {
        if let key = try read(path) { return key }
        do {
            try FileOwner.acting(for: path) { try create(path) }
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError(.keyFile, "cannot create \(path): \(error)")
        }
        guard let key = try read(path) else {
            throw ServerError(.keyFile, "\(path) disappeared while it was being created")
        }
        return key
    }

    private static func read(_ path: String) throws(ServerError) -> SymmetricKey? {
        guard let bytes = try SecretFile.read(path, atMost: 32) else { return nil }
        guard bytes.count == 32 else {
            throw ServerError(.keyFile, "\(path) is not a key of 32 bytes", hint: "use another --key-file")
        }
        return SymmetricKey(data: bytes)
    }

    /// Writes a new key to a temporary file and links it to its path.
    ///
    /// No process reads a partial key, and two processes that create one at the same time use the same.
    private static func create(_ path: String) throws(ServerError) {
        // The name is random, because a killed process leaves its file, and all processes in containers have the same
        // process ID.
        let draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        let file = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw ServerError(.keyFile, "cannot create \(draft): \(SecretFile.reason())")
        }
        defer { unlink(draft) }
        let written = SymmetricKey(size: .bits256).withUnsafeBytes {
            unsafe write(file, $0.baseAddress, $0.count)
        }
        let isDurable = fsync(file) == 0
        close(file)
        guard written == 32, isDurable else {
            throw ServerError(.keyFile, "cannot write \(draft): \(SecretFile.reason())")
        }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw ServerError(.keyFile, "cannot create \(path): \(SecretFile.reason())")
        }
        let folder = (path as NSString).deletingLastPathComponent
        let directory = unsafe Glibc.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }
}
