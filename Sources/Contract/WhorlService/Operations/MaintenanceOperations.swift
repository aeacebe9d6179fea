// SPDX-License-Identifier: Apache-2.0
// An operation says what it is and does above its type; its members are described by their protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The upkeep of the state and its chip, and questions about them.

extension Operations {
    static let ofMaintenance: [any ServiceOperation.Type] = [
        ReadFacts.self, HasState.self, ReadChangeMark.self, ReadVaultStatus.self, ProvisionVault.self,
        ResetVault.self, ResealItems.self, ListAttempts.self, ReadLog.self, ReadLockFileFault.self,
    ]
}

/// Reads the facts about the directory and the TPM as they are now; neither is asked.
public struct ReadFacts: ServiceOperation {
    public typealias Reply = MaintenanceFacts
    public static let name = "io.whorl.Maintenance.Facts"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Returns whether anything was ever stored, and opens the state to find out.
///
/// Errors: the reason why the state cannot be used.
public struct HasState: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Maintenance.HasState"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads numbers that differ after each change of the state, by any process; the chip is not asked.
///
/// The answer is `nil` if nothing was ever stored, or if the state cannot be read.
public struct ReadChangeMark: ServiceOperation {
    public typealias Reply = Optionally<[Int]>
    public static let name = "io.whorl.Maintenance.ChangeMark"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the status of the directory and its chip, and changes nothing.
public struct ReadVaultStatus: ServiceOperation {
    public typealias Reply = VaultStatus
    public static let name = "io.whorl.Maintenance.Status"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Puts the directory under the protection of the chip; the directory is made if it does not exist.
///
/// Errors: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, `chipCleared`, a storage error.
public struct ProvisionVault: ServiceOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Maintenance.Provision"
    public static let rules = OperationRules(
        change: "provision the vault",
        "vaultProvisioned",
        by: .unconfined
    )

    public init() {}
}

/// Deletes the vault with its items, which cannot be recovered; the answer has the effect on the enrolled fingers.
///
/// Errors: `noChip`, `chipBusy`; a storage error, also where the database is busy, in which case the vault is unchanged.
public struct ResetVault: ServiceOperation {
    public typealias Reply = VaultReset
    public static let name = "io.whorl.Maintenance.Reset"
    public static let rules = OperationRules(change: "reset the vault", "vaultReset", by: .unconfined)

    /// Whether to go on if the chip is gone.
    public let withoutChip: Bool

    private enum CodingKeys: String, CodingKey { case withoutChip = "value" }

    public init(withoutChip: Bool) { self.withoutChip = withoutChip }
}

/// Asks for the passcode, and binds the secrets that are bound to the machine's start to the start as it is now.
///
/// The passcode takes the place of the measurements. The answer has the items that were bound, and those that were not.
/// Errors: the reason why the owner did not agree; `passcodeNotSet`, `noChip`, a storage error.
public struct ResealItems: OwnerOperation {
    public typealias Reply = Resealing
    public static let name = "io.whorl.Maintenance.Reseal"
    public static let rules = OperationRules(
        change: "bind items to the machine's start",
        "vaultResealed",
        by: .unconfined
    )

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    public var purpose: String { "bind items to the machine's start" }
}

/// Lists the counted tries of the profile, one value for each ``ReaderClass``.
///
/// Errors: `storeFailed`.
public struct ListAttempts: ServiceOperation {
    public typealias Reply = Valued<[AttemptStatus]>
    public static let name = "io.whorl.Maintenance.Attempts"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the newest lines of the profile's audit log, newest first; none if nothing was ever stored.
///
/// Errors: `storeFailed`.
public struct ReadLog: ServiceOperation {
    public typealias Reply = Valued<[AuditEntry]>
    public static let name = "io.whorl.Maintenance.Log"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    /// The most lines; less than 1 returns none.
    public var limit: Int

    private enum CodingKeys: String, CodingKey { case limit = "value" }

    public init(limit: Int) { self.limit = limit }
}

/// Reads the fault of the file by which evaluations take turns; the answer is `nil` when nothing is wrong.
public struct ReadLockFileFault: ServiceOperation {
    public typealias Reply = Optionally<ServiceError>
    public static let name = "io.whorl.Maintenance.LockFileFault"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}
