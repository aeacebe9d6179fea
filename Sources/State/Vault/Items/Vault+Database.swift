// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

/// The database, with its failures as the vault's.
extension Vault {
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(VaultError) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw VaultError(.store(error), directory.path)
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(VaultError) -> Value {
        do {
            return try await database.write(.full, body)
        } catch {
            throw VaultError(.store(error), directory.path)
        }
    }

    /// A body that can refuse: `failure` rolls everything back and is returned.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result<Value, VaultError>
    ) async throws(VaultError) -> Result<Value, VaultError> {
        do {
            return try await database.transaction(.full, body)
        } catch {
            throw VaultError(.store(error), directory.path)
        }
    }
}
