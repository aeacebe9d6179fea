// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The upkeep of the state and its chip (``MaintenanceService``).
enum MaintenanceInterface {
    struct ResealingCall: Codable, Sendable { let request: ConsentRequest }

    static let facts = ServiceMethod<NoValue, MaintenanceFacts>(
        repeatable: "io.whorl.Maintenance.Facts",
        by: .unconfined
    )
    static let hasState = ServiceMethod<NoValue, Valued<Bool>>(
        repeatable: "io.whorl.Maintenance.HasState",
        by: .unconfined
    )
    static let changeMark = ServiceMethod<NoValue, Optionally<[Int]>>(
        repeatable: "io.whorl.Maintenance.ChangeMark",
        by: .unconfined
    )
    static let status = ServiceMethod<NoValue, VaultStatus>(
        repeatable: "io.whorl.Maintenance.Status",
        by: .unconfined
    )
    static let provision = ServiceMethod<NoValue, NoValue>("io.whorl.Maintenance.Provision", by: .unconfined)
    static let reset = ServiceMethod<Valued<Bool>, VaultReset>("io.whorl.Maintenance.Reset", by: .unconfined)
    static let reseal = ServiceMethod<Prompting<ResealingCall>, Prompted<Resealing>>(
        "io.whorl.Maintenance.Reseal",
        by: .unconfined
    )
    static let attempts = ServiceMethod<NoValue, Valued<[AttemptStatus]>>(
        repeatable: "io.whorl.Maintenance.Attempts",
        by: .unconfined
    )
    static let log = ServiceMethod<Valued<Int>, Valued<[AuditEntry]>>(
        repeatable: "io.whorl.Maintenance.Log",
        by: .anyProgram
    )
    static let lockFileFault = ServiceMethod<NoValue, Optionally<ServiceError>>(
        repeatable: "io.whorl.Maintenance.LockFileFault",
        by: .unconfined
    )
}

/// The connected readers (``ReaderService``).
enum ReaderInterface {
    static let list = ServiceMethod<NoValue, Valued<[ReaderInfo]>>(
        repeatable: "io.whorl.Readers.List",
        by: .unconfined
    )
    static let chosen = ServiceMethod<NoValue, ReaderInfo>(
        repeatable: "io.whorl.Readers.Chosen",
        by: .unconfined
    )
    /// Opens a reader and lets it go again, to see whether it can be used.
    static let tryOut = ServiceMethod<Valued<ReaderID>, NoValue>(
        "io.whorl.Readers.TryOut",
        by: .unconfinedAtReader
    )
    /// The data of the prints that a reader keeps; no template leaves the service.
    static let prints = ServiceMethod<Valued<ReaderID>, Valued<[EnrollmentMetadata]>>(
        repeatable: "io.whorl.Readers.Prints",
        by: .unconfinedAtReader
    )
    static let lockTrouble = ServiceMethod<NoValue, Optionally<ReaderError>>(
        repeatable: "io.whorl.Readers.LockTrouble",
        by: .unconfined
    )
    /// Gives an update for each reader that comes or goes, until the caller hangs up.
    static let watch = ServiceMethod<NoValue, NoValue>("io.whorl.Readers.Watch", by: .unconfined)
}
