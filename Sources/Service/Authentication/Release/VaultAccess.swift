// SPDX-License-Identifier: Apache-2.0

public import Vault

/// How the engine comes to the vault; nothing is asked of a chip before something needs it.
public struct VaultAccess: Sendable {
    /// The vault of the directory; `nil` when nothing was ever stored there.
    let existing: @Sendable () async throws(VaultError) -> Vault?
    /// The vault with a chip behind it; `nil` when nothing was ever stored.
    let inChip: @Sendable () async throws(VaultError) -> Vault?
    /// The vault with a chip behind it, made when nothing was ever stored.
    let made: @Sendable () async throws(VaultError) -> Vault

    /// Takes the vault from wherever its caller keeps it.
    ///
    /// - Parameters:
    ///   - existing: Gives the vault of the directory, or `nil` when nothing was ever stored there.
    ///   - inChip: Gives the vault for an item, or `nil` as `existing`; it throws `noChip` where there is no chip.
    ///   - made: Gives the vault for a new item, made when nothing was ever stored; it throws `noChip` where there is no
    ///     chip.
    public init(
        existing: @escaping @Sendable () async throws(VaultError) -> Vault?,
        inChip: @escaping @Sendable () async throws(VaultError) -> Vault?,
        made: @escaping @Sendable () async throws(VaultError) -> Vault
    ) {
        self.existing = existing
        self.inChip = inChip
        self.made = made
    }

    /// A vault that was found already.
    static func of(_ vault: Vault) -> VaultAccess {
        VaultAccess(
            existing: { () throws(VaultError) in vault },
            inChip: { () throws(VaultError) in vault },
            made: { () throws(VaultError) in vault }
        )
    }

    /// There is no vault, and so neither a passcode nor an item.
    public static let none = VaultAccess(
        existing: { () throws(VaultError) in nil },
        inChip: { () throws(VaultError) in throw .noVault },
        made: { () throws(VaultError) in throw .noVault }
    )
}

extension VaultError {
    /// There is no vault to ask.
    package static var noVault: VaultError { VaultError(.noChip, cause: "no vault") }
}

extension AuthenticationError {
    /// What a failure of the vault means for an evaluation.
    package init(_ error: VaultError) {
        switch error.code {
        case .store(let error): self.init(error)
        case .passcodeNotSet: self.init(.passcodeNotSet)
        case .passcodeWrong, .passcodeThrottled, .chipLockedOut: self.init(error, as: .authenticationFailed)
        case .counterLost: self.init(error, as: .enrollmentRolledBack)
        case .noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
            .chipFull:
            self.init(error, as: .chipUnavailable)
        // None of these comes from a passcode or a counter; none of them is a success.
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
