// SPDX-License-Identifier: Apache-2.0

import StateStore
import WhorlService
import WhorlSupport

/// The lock for changes of the chip and the database together: one holder at a time, among all processes that
/// share a state directory.
enum VaultLock {
    /// A chip may take seconds for one command.
    private static let limit = Duration.seconds(60)

    /// Takes the lock as soon as it is free, without blocking a thread.
    ///
    /// The wait is not cancelled with its task: a change of the chip and the database that has begun is finished.
    ///
    /// - Throws: `store` with `busy` if another holder keeps the lock for a minute, or with the reason why the file
    ///   cannot be used.
    static func acquire(_ directory: StateDirectory) async throws(VaultError) -> FileLock {
        let path = directory.file("vault.lock")
        do throws(FileLockError) {
            return try await FileLock.acquire(path, within: limit, endsWithTask: false)
        } catch {
            throw VaultError(.store(StateError(error, path: path)), path)
        }
    }
}
