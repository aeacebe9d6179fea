// SPDX-License-Identifier: Apache-2.0

package import SecretMemory
package import WhorlService

/// The state key in a file of 32 bytes, for a system without a TPM: it protects from another user and from a copy of
/// the database alone, not from a copy of the whole directory.
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
        guard let key = try PrivateFiles.read(path, atMost: FileKeySource.size) else { return nil }
        guard key.count == FileKeySource.size else {
            throw StateError(
                .keyDamaged,
                path: path,
                cause: "\(key.count) bytes instead of \(FileKeySource.size)"
            )
        }
        return key
    }

    package func loadOrCreate() throws(StateError) -> SecretBytes {
        if let key = try load() { return key }
        // The first process creates the key; all processes read it from the file.
        let new = SecretBytes(randomCount: FileKeySource.size)
        _ = try PrivateFiles.publish(new, as: path, in: directory.path)
        guard let key = try load() else { throw StateError(.keyMissing, path: path) }
        return key
    }
}
