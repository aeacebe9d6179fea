// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SecretMemory

/// The state key in a file of 32 bytes, for a system without a TPM: it protects from another user and from a
/// copy of the database alone, not from a copy of the whole directory.
package struct FileKeySource: StateKeySource {
    package let path: String
    private let directory: StateDirectory

    /// The size of the key in bytes.
    private static let size = 32

    package init(directory: StateDirectory) {
        self.directory = directory
        self.path = directory.keyPath
    }

    package func exists() throws(StateError) -> Bool { try PrivateFiles.checkFile(path) }

    package func load() throws(StateError) -> SecretBytes? {
        guard try exists() else { return nil }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw StateError(errno: errno, path: path) }
        defer { close(file) }
        // Checked again on what was opened: the name may have been given to another file meanwhile.
        var found = stat()
        guard fstat(file, &found) == 0 else { throw StateError(errno: errno, path: path) }
        try PrivateFiles.checkPlainFile(found, path)
        guard found.st_size == FileKeySource.size else {
            throw StateError(
                .keyDamaged,
                path: path,
                cause: "\(found.st_size) bytes instead of \(FileKeySource.size)"
            )
        }
        return try SecretBytes(count: FileKeySource.size) { room throws(StateError) in
            guard read(file, room.baseAddress, room.count) == room.count else {
                throw StateError(errno: errno, path: path)
            }
        }
    }

    package func loadOrCreate() throws(StateError) -> SecretBytes {
        if let key = try load() { return key }
        let temporary = PrivateFiles.temporaryName(beside: path)
        try writeNewKey(to: temporary)
        // Whoever was first has made the key; both read it from the file.
        _ = try PrivateFiles.publish(temporary, as: path, in: directory.path)
        guard let key = try load() else { throw StateError(.keyMissing, path: path) }
        return key
    }

    private func writeNewKey(to temporary: String) throws(StateError) {
        let file = try PrivateFiles.createExclusively(temporary)
        defer { close(file) }
        let key = SecretBytes(randomCount: FileKeySource.size)
        let written = key.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard written == FileKeySource.size, fsync(file) == 0 else {
            let code = written >= 0 && written < FileKeySource.size ? ENOSPC : errno
            unlink(temporary)
            throw StateError(errno: code, path: path)
        }
    }
}
