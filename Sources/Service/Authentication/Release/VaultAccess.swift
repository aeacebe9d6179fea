// SPDX-License-Identifier: Apache-2.0

public import Vault

/// The engine's access to the vault; no chip is asked before an operation needs it.
public struct VaultAccess: Sendable {
    /// Returns the vault of the directory; `nil` when nothing was ever stored there.
    let existing: @Sendable () async throws(VaultError) -> Vault?
    /// Returns the vault with a chip behind it; `nil` when nothing was ever stored.
    let inChip: @Sendable () async throws(VaultError) -> Vault?
    /// Returns the vault with a chip behind it, which is made if nothing was ever stored.
    let made: @Sendable () async throws(VaultError) -> Vault

    /// Makes access to a vault that the caller keeps.
    ///
    /// - Parameters:
    ///   - existing: Gives the vault of the directory, or `nil` when nothing was ever stored there.
    ///   - inChip: Gives the vault for an item, or `nil` as `existing`; throws `noChip` without a chip.
    ///   - made: Gives the vault for a new item, made when nothing was ever stored; throws `noChip` without a chip.
    public init(
        existing: @escaping @Sendable () async throws(VaultError) -> Vault?,
        inChip: @escaping @Sendable () async throws(VaultError) -> Vault?,
        made: @escaping @Sendable () async throws(VaultError) -> Vault
    ) {
        self.existing = existing
        self.inChip = inChip
        self.made = made
    }

    /// Makes access to a vault that was found already.
    static func of(_ vault: Vault) -> VaultAccess {
        VaultAccess(
            existing: { () throws(VaultError) in vault },
            inChip: { () throws(VaultError) in vault },
            made: { () throws(VaultError) in vault }
        )
    }

    /// Access without a vault, and so without a passcode or items.
    public static let none = VaultAccess(
        existing: { () throws(VaultError) in nil },
        inChip: { () throws(VaultError) in throw .noVault },
        made: { () throws(VaultError) in throw .noVault }
    )
}

extension VaultError {
    /// The error of an operation that needs a vault where none is present.
    package static var noVault: VaultError { VaultError(.noChip, cause: "no vault") }
}

extension AuthenticationError {
    /// Makes the evaluation's error for a failure of the vault.
    package init(_ error: VaultError) {
        switch error.code {
        case .store(let error): self.init(error)
        case .passcodeNotSet: self.init(.passcodeNotSet)
        case .passcodeWrong, .passcodeThrottled, .chipLockedOut: self.init(error, as: .authenticationFailed)
        case .counterLost: self.init(error, as: .enrollmentRolledBack)
        case .noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
            .chipFull:
            self.init(error, as: .chipUnavailable)
        // Passcodes and counters never cause these errors; they count as failures.
        case .nameRefused, .noSuchItem, .itemExists, .enrollmentChanged, .itemTampered, .measuredBootChanged,
            .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .secretEmpty,
            .secretTooLarge, .digestWrongSize, .publicKeyRefused, .accessRefused, .passcodeExists,
            .passcodeWrongSize,
            .passcodeNeeded:
            self.init(error, as: .storeFailed)
        }
    }

    private init(_ error: VaultError, as code: Code) {
        self.init(code, message: error.message, recovery: error.recovery, cause: error.description)
    }
}
