// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import GRDB
import SecretMemory

/// The database of one state directory, with the key that protects what is in it.
///
/// Several processes may have it open at once. Every read and write runs to its end even when its task is
/// cancelled: what has happened at the reader must reach the disk.
public final class StateDatabase: Sendable {
    /// Where the database lies.
    public let directory: StateDirectory

    /// One connection. A pool would open a second one at the first read, and the tasks of one process have
    /// nothing to read side by side. In WAL mode the readers of other processes do not wait for our writes.
    private let queue: DatabaseQueue
    private let stateKey: SecretBytes

    /// Opens the database, and makes directory, database and key where nothing was stored before.
    ///
    /// The directory gets mode 0700, the files 0600, whatever the umask is. Wider modes, another owner, and
    /// links in place of files are refused. A file that is not a sound database of this version is not touched.
    ///
    /// - Throws: every code of ``StateError``.
    public convenience init(directory: StateDirectory) throws(StateError) {
        try self.init(directory: directory, keySource: FileKeySource(directory: directory))
    }

    package init(directory: StateDirectory, keySource: any StateKeySource) throws(StateError) {
        fatalError()
    }

    /// Opens the database where one was made before; never creates anything.
    ///
    /// - Returns: `nil` when nothing was ever stored.
    /// - Throws: as ``init(directory:)``.
    public static func openExisting(_ directory: StateDirectory) throws(StateError) -> StateDatabase? {
        fatalError()
    }

    /// Runs `body` on a consistent state of the database, without changing it.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StateError) -> Value {
        fatalError()
    }

    /// Runs `body` in an IMMEDIATE transaction: nobody else writes in between. An error rolls it back.
    package func write<Value: Sendable>(
        _ durability: Durability = .full,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StateError) -> Value {
        fatalError()
    }

    /// As ``write(_:_:)``, for a body that can refuse: `failure` rolls everything back and is returned.
    package func transaction<Value: Sendable, Failure: Error>(
        _ durability: Durability = .full,
        _ body: @escaping @Sendable (Database) throws -> Result<Value, Failure>
    ) async throws(StateError) -> Result<Value, Failure> {
        fatalError()
    }

    /// The key for one purpose, 32 bytes: HKDF-SHA-256 (RFC 5869) of the state key.
    package func key(for purpose: KeyPurpose) -> SymmetricKey {
        fatalError()
    }
}
