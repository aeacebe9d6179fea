// SPDX-License-Identifier: Apache-2.0

public import WhorlVault
public import WhorlService

/// Gives the engine the vault; no chip is asked before an operation needs it.
public protocol VaultSource: Sendable {
    /// Returns the vault of the directory; `nil` if nothing was ever stored there.
    func existingVault() async throws(VaultError) -> Vault?

    /// Returns the vault with a chip behind it; `nil` if nothing was ever stored.
    ///
    /// - Throws: `noChip` without a chip.
    func vaultInChip() async throws(VaultError) -> Vault?

    /// Returns the vault with a chip behind it, which is created if nothing was ever stored.
    ///
    /// - Throws: `noChip` without a chip.
    func createdVault() async throws(VaultError) -> Vault
}

/// A vault that was found already.
package struct FoundVault: VaultSource {
    let vault: Vault

    /// Gives this vault.
    package init(_ vault: Vault) { self.vault = vault }

    package func existingVault() -> Vault? { vault }
    package func vaultInChip() -> Vault? { vault }
    package func createdVault() -> Vault { vault }
}

/// No vault, and so no passcode and no items.
public struct NoVault: VaultSource {
    /// Gives no vault.
    public init() {}

    /// Returns `nil`.
    public func existingVault() -> Vault? { nil }
    /// Throws the error that there is no vault.
    public func vaultInChip() throws(VaultError) -> Vault? { throw .noVault }
    /// Throws the error that there is no vault.
    public func createdVault() throws(VaultError) -> Vault { throw .noVault }
}
