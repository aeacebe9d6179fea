// SPDX-License-Identifier: Apache-2.0

public import WhorlVault
public import WhorlService

/// The engine's access to the vault; no chip is asked before an operation needs it.
public struct VaultAccess: Sendable {
    /// Returns the vault of the directory; `nil` when nothing was ever stored there.
    let existing: @Sendable () async throws(VaultError) -> Vault?
    /// Returns the vault with a chip behind it; `nil` when nothing was ever stored.
    let inChip: @Sendable () async throws(VaultError) -> Vault?
    /// Returns the vault with a chip behind it, which is created if nothing was ever stored.
    let created: @Sendable () async throws(VaultError) -> Vault

    /// Makes access to a vault that the caller keeps.
    ///
    /// - Parameters:
    ///   - existing: Gives the vault of the directory, or `nil` when nothing was ever stored there.
    ///   - inChip: Gives the vault for an item, or `nil` as `existing`; throws `noChip` without a chip.
    ///   - created: Gives the vault for a new item, created when nothing was ever stored; throws `noChip` without a chip.
    public init(
        existing: @escaping @Sendable () async throws(VaultError) -> Vault?,
        inChip: @escaping @Sendable () async throws(VaultError) -> Vault?,
        created: @escaping @Sendable () async throws(VaultError) -> Vault
    ) {
        self.existing = existing
        self.inChip = inChip
        self.created = created
    }

    /// Makes access to a vault that was found already.
    static func of(_ vault: Vault) -> VaultAccess {
        VaultAccess(
            existing: { () throws(VaultError) in vault },
            inChip: { () throws(VaultError) in vault },
            created: { () throws(VaultError) in vault }
        )
    }

    /// Access without a vault, and so without a passcode or items.
    public static let none = VaultAccess(
        existing: { () throws(VaultError) in nil },
        inChip: { () throws(VaultError) in throw .noVault },
        created: { () throws(VaultError) in throw .noVault }
    )
}
