// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
package import WhorlSecretMemory
package import WhorlService

/// A storage location for the state key, which is either a file or an object sealed by the TPM.
package protocol StateKeySource: Sendable {
    /// The path of the key, for messages.
    var path: String { get }

    /// Returns whether a key has been created, even if it is damaged.
    ///
    /// - Throws: `tooOpen`, `notWritable`.
    func exists() throws(ServiceError) -> Bool

    /// Returns the key (32 bytes), or `nil` if it never existed or is missing.
    ///
    /// - Throws: `tooOpen`, `keyDamaged`, `notWritable`.
    func load() throws(ServiceError) -> SecretBytes?

    /// Creates the key if it does not exist, and returns the stored key.
    ///
    /// Two processes that create a key at the same time get the same key, which is on the disk when this function
    /// returns.
    ///
    /// - Throws: The errors of ``load()``, and `diskFull`.
    func loadOrCreate() throws(ServiceError) -> SecretBytes
}

/// The state key in a 32-byte file, for a system without a TPM.
///
/// It provides protection only against other users and if the database is copied, but not if the whole directory is
/// copied.
package struct FileKeySource: StateKeySource {
    package let path: String
    private let directory: StateDirectory

    /// The size of the key in bytes.
    private static let size = 32

    package init(directory: StateDirectory) {
        self.directory = directory
        self.path = directory.keyPath
    }

    package func exists() throws(ServiceError) -> Bool { try PrivateFiles.checkFile(path) }

    package func load() throws(ServiceError) -> SecretBytes? {
        guard let key = try PrivateFiles.read(path, atMost: FileKeySource.size) else { return nil }
        guard key.count == FileKeySource.size else {
            throw ServiceError(
                .storeKeyDamaged,
                path,
                cause: "\(key.count) bytes instead of \(FileKeySource.size)"
            )
        }
        return key
    }

    package func loadOrCreate() throws(ServiceError) -> SecretBytes {
        if let key = try load() { return key }
        // The first process creates the key; all processes read it from the file.
        let new = SecretBytes(randomCount: FileKeySource.size)
        _ = try PrivateFiles.publish(new, as: path, in: directory.path)
        guard let key = try load() else { throw ServiceError(.storeKeyMissing, path) }
        return key
    }
}

/// The binding of a database to its key.
///
/// First the database is created, then the key, and then the key's check value is written to the database. A crash at
/// any step can therefore be distinguished from a lost key or a lost database.
struct KeyBinding {
    let queue: DatabaseQueue
    let source: any StateKeySource
    let directory: StateDirectory

    /// Returns the keys of this database, or `nil` if the first start was interrupted before a key was in use.
    ///
    /// - Throws: `keyMissing`, `keyDamaged`, or an error from reading the database.
    func keys() throws(ServiceError) -> StateKeys? {
        let binding = try run { try queue.access { try $0.reading(Binding.init) } }
        switch binding {
        case .unused: return nil
        case .broken: throw ServiceError(.storeKeyMissing, source.path, cause: "no check value")
        case .bound(let check):
            guard let key = try source.load() else { throw ServiceError(.storeKeyMissing, source.path) }
            let keys = StateKeys(stateKey: key)
            guard keys.check == check else { throw ServiceError(.storeKeyDamaged, source.path) }
            return keys
        }
    }

    /// Returns the keys of this database, creating them on the first start.
    func keysOrNew() throws(ServiceError) -> StateKeys {
        if let keys = try keys() { return keys }
        let check = StateKeys(stateKey: try source.loadOrCreate()).check
        try run {
            try queue.access { db in
                try db.transaction { db in
                    try db.execute(
                        sql: "UPDATE identity SET key_check = ? WHERE id = 1 AND key_check IS NULL",
                        arguments: [check]
                    )
                }
            }
        }
        // Another process may have bound the database at the same time, always to the same key.
        guard let bound = try self.keys() else { throw ServiceError(.storeKeyMissing, source.path) }
        return bound
    }

    private func run<Value>(_ body: () throws -> Value) throws(ServiceError) -> Value {
        try Result(failingAt: directory.databasePath, body).get()
    }

    private enum Binding: Sendable {
        case unused
        case bound(Data)
        case broken

        init(_ db: Database) throws {
            if let check: Data = try db.value(sql: "SELECT key_check FROM identity WHERE id = 1") {
                self = .bound(check)
            } else {
                let isEmpty = try db.value(sql: "SELECT count(*) FROM profiles") == 0
                self = isEmpty ? .unused : .broken
            }
        }
    }
}
