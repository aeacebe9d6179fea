// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Maintenance of the state and its TPM, and queries about them.

extension Operations {
    static let ofMaintenance: [any ServiceOperation.Type] = [
        ReadFacts.self, HasState.self, ReadChangeMark.self, ReadVaultStatus.self, ProvisionVault.self,
        ResetVault.self, DeleteEverything.self, ResealItems.self, ListAttempts.self, ReadLog.self,
        ReadLockFileFault.self,
    ]
}

/// Reads current information about the directory and the TPM without accessing either.
public struct ReadFacts: ServiceOperation {
    public typealias Reply = MaintenanceFacts
    public static let name = "io.whorl.Maintenance.Facts"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Returns whether any state exists, which requires opening the state.
///
/// Errors: the reason why the state cannot be used.
public struct HasState: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Maintenance.HasState"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads numbers that change whenever any process changes the state, without accessing the TPM.
///
/// Returns `nil` if the state does not exist or cannot be read.
public struct ReadChangeMark: ServiceOperation {
    public typealias Reply = Optionally<[Int]>
    public static let name = "io.whorl.Maintenance.ChangeMark"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the status of the directory and its TPM without changing anything.
public struct ReadVaultStatus: ServiceOperation {
    public typealias Reply = VaultStatus
    public static let name = "io.whorl.Maintenance.Status"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Brings the directory under TPM protection; creates the directory if it does not exist.
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

/// Deletes the vault and its items, which cannot be recovered, and returns the effect on the enrolled fingers.
///
/// Errors: `noChip`, `chipBusy`; a storage error. If the database is busy, the vault is unchanged.
public struct ResetVault: ServiceOperation {
    public typealias Reply = VaultReset
    public static let name = "io.whorl.Maintenance.Reset"
    public static let rules = OperationRules(change: "reset the vault", "vaultReset", by: .unconfined)

    /// Whether to continue if the TPM is missing.
    public let withoutChip: Bool

    private enum CodingKeys: String, CodingKey { case withoutChip = "value" }

    public init(withoutChip: Bool) { self.withoutChip = withoutChip }
}

/// Deletes everything that is stored for the user: fingers, also in connected readers, items, the passcode and the log.
///
/// Only the system service performs it. If a finger is enrolled or a passcode is set, the owner must consent; otherwise,
/// the system's rules must allow it (polkit's `io.whorl.reset`). The journal and backups are not changed. Errors: the
/// reason why the owner did not consent; `notPermitted`; a storage error.
public struct DeleteEverything: OwnerOperation {
    public typealias Reply = NoValue
    public static let name = "io.whorl.Maintenance.DeleteEverything"
    /// The log is deleted as well, so only the journal has an entry.
    public static let rules = OperationRules(.loggedChange("delete everything"), by: .unconfined)

    public var request: ConsentRequest

    public init(_ request: ConsentRequest) { self.request = request }

    /// Decodes the request from the members of the call itself.
    public init(from decoder: any Decoder) throws { request = try ConsentRequest(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try request.encode(to: encoder) }

    public var purpose: String { "delete everything that is stored for this user" }
}

/// Prompts for the passcode, and binds secrets that depend on boot measurements to the current measurements.
///
/// The passcode takes the place of the measurements. Returns the items that were bound again, and those that were not.
/// Errors: the reason why the owner did not consent; `passcodeNotSet`, `noChip`, a storage error.
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

/// Returns the status of the profile's attempts, with one value for each ``ReaderClass``.
///
/// Errors: `storeFailed`.
public struct ListAttempts: ServiceOperation {
    public typealias Reply = Valued<[AttemptStatus]>
    public static let name = "io.whorl.Maintenance.Attempts"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}

/// Reads the most recent entries of the profile's audit log, newest first; empty if no state exists.
///
/// Errors: `storeFailed`.
public struct ReadLog: ServiceOperation {
    public typealias Reply = Valued<[AuditEntry]>
    public static let name = "io.whorl.Maintenance.Log"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    /// The maximum number of entries; with a limit below 1, the result is empty.
    ///
    /// The system service returns at most 1,000.
    public var limit: Int
    /// The ID of the entry whose predecessors are read; `nil` reads the most recent ones.
    public var before: Int64?

    private enum CodingKeys: String, CodingKey { case limit = "value", before }

    public init(limit: Int, before: Int64? = nil) {
        self.limit = limit
        self.before = before
    }
}

/// Returns the problem with the lock file that evaluations use to take turns; `nil` if there is no problem.
public struct ReadLockFileFault: ServiceOperation {
    public typealias Reply = Optionally<ServiceError>
    public static let name = "io.whorl.Maintenance.LockFileFault"
    public static let rules = OperationRules(.repeatable, by: .unconfined)

    public init() {}
}
