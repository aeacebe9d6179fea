// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import WhorlService

/// Access to the database, with its failures converted to errors of the vault.
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

    /// Runs a body in a transaction; if it returns a `failure`, everything is rolled back and the failure is returned.
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
