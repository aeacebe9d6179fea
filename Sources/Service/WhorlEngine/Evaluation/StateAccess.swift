// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
import Synchronization
package import WhorlEnrollment
package import WhorlService
package import WhorlVault

/// The engine's access to its state.
///
/// Files are created only when data must be stored.
package struct StateAccess: Sendable {
    /// Returns the database; `nil` if nothing was ever stored.
    package let existing: @Sendable () async throws(ServiceError) -> StateDatabase?
    /// Returns the database, and creates it if it does not exist.
    package let created: @Sendable () async throws(ServiceError) -> StateDatabase
    /// The generation counter of the set of enrolled fingers.
    let generations: any GenerationCounter
    /// The rule that determines which prints are trusted.
    let trust: PrintTrust

    /// Creates access to a state that the caller manages.
    ///
    /// Both functions may be called repeatedly and concurrently; they must always return the same open database.
    package init(
        generations: any GenerationCounter = SoftwareGeneration(),
        trust: PrintTrust = .everyPrint,
        existing: @escaping @Sendable () async throws(ServiceError) -> StateDatabase?,
        created: @escaping @Sendable () async throws(ServiceError) -> StateDatabase
    ) {
        self.existing = existing
        self.created = created
        self.generations = generations
        self.trust = trust
    }

    /// Creates access to a state directory, which is opened when it is first used and then stays open.
    package init(
        directory: StateDirectory,
        generations: any GenerationCounter = SoftwareGeneration()
    ) {
        let kept = OpenDatabase()
        self.init(
            generations: generations,
            existing: { () throws(ServiceError) in
                try kept.database { () throws(ServiceError) in try StateDatabase.openExisting(directory) }
            },
            created: { () throws(ServiceError) in
                let database = try kept.database { () throws(ServiceError) in
                    try StateDatabase(directory: directory)
                }
                guard let database else { throw ServiceError(.storeFailed, directory.path) }
                return database
            }
        )
    }
}

/// The store of the enrolled fingers.
extension StateAccess {
    /// Returns the store; `nil` if nothing was ever stored.
    package func existingStore() async throws(ServiceError) -> EnrollmentStore? {
        try await existing().map(store)
    }

    /// Returns the store, and creates it if it does not exist.
    package func createdStore() async throws(ServiceError) -> EnrollmentStore {
        store(on: try await created())
    }

    /// Returns the store on a database of this state.
    package func store(on database: StateDatabase) -> EnrollmentStore {
        EnrollmentStore(database: database, generations: generations, trust: trust)
    }
}

/// A database that stays open once it has been opened.
private final class OpenDatabase: Sendable {
    private let kept = Mutex<StateDatabase?>(nil)

    /// Returns the open database; otherwise the result of `open`, which is stored unless it is `nil`.
    func database(
        _ open: () throws(ServiceError) -> StateDatabase?
    ) throws(ServiceError) -> StateDatabase? {
        try kept.withLock { kept throws(ServiceError) in
            if let database = kept { return database }
            kept = try open()
            return kept
        }
    }
}

/// A source of the vault, which accesses the TPM only when an operation needs it.
package protocol VaultSource: Sendable {
    /// Returns the vault of the directory; `nil` if nothing was ever stored there.
    func existingVault() async throws(ServiceError) -> Vault?

    /// Returns the vault with a connection to the TPM; `nil` if nothing was ever stored.
    ///
    /// - Throws: `noChip` without a TPM.
    func vaultInChip() async throws(ServiceError) -> Vault?

    /// Returns the vault with a connection to the TPM, and creates the vault if nothing was ever stored.
    ///
    /// - Throws: `noChip` without a TPM.
    func createdVault() async throws(ServiceError) -> Vault
}

/// A source that returns a vault that was already found.
package struct ExistingVault: VaultSource {
    let vault: Vault

    /// Creates a source that returns a vault.
    package init(_ vault: Vault) { self.vault = vault }

    package func existingVault() -> Vault? { vault }
    package func vaultInChip() -> Vault? { vault }
    package func createdVault() -> Vault { vault }
}

/// A source without a vault, which means that there are no passcode and no items.
package struct NoVault: VaultSource {
    /// Creates a source without a vault.
    package init() {}

    /// Returns `nil`, because there is no vault.
    package func existingVault() -> Vault? { nil }
    /// Throws the error for a missing vault.
    package func vaultInChip() throws(ServiceError) -> Vault? {
        throw ServiceError(.noChip, cause: "no vault")
    }
    /// Throws the error for a missing vault.
    package func createdVault() throws(ServiceError) -> Vault {
        throw ServiceError(.noChip, cause: "no vault")
    }
}
