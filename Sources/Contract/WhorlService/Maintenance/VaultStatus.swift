// SPDX-License-Identifier: Apache-2.0

/// The status of a state directory and its TPM, which `whorl doctor` and `whorl vault status` print.
///
/// Reading the status does not change anything in the TPM or on the disk.
public struct VaultStatus: Sendable, Hashable, Codable {
    /// The location of the state key.
    public enum StateKey: String, Sendable, Hashable, Codable {
        /// No state key exists yet.
        case none
        /// In a file, so a copy of the directory includes it.
        case file
        /// Sealed by the TPM.
        case sealed
        /// In both places: `whorl vault provision` was interrupted; running the command again completes the change.
        case both
    }

    /// The properties that the TPM reports; `nil` if it cannot be reached.
    public let chip: ChipStatus?
    /// The error that prevents access to the TPM.
    public let obstacle: ServiceError?
    /// Whether the TPM is simulated.
    public let isSimulated: Bool
    /// Whether the vault was provisioned in this directory.
    public let isProvisioned: Bool
    /// Whether the vault was created with this TPM; `nil` if that cannot be determined.
    public let isSameChip: Bool?
    /// The location of the state key.
    public let stateKey: StateKey
    /// The handle of the storage root; `nil` before the vault is provisioned.
    public let storageRoot: UInt32?

    /// Creates a status.
    public init(
        chip: ChipStatus?,
        obstacle: ServiceError?,
        isSimulated: Bool,
        isProvisioned: Bool,
        isSameChip: Bool?,
        stateKey: StateKey,
        storageRoot: UInt32?
    ) {
        self.chip = chip
        self.obstacle = obstacle
        self.isSimulated = isSimulated
        self.isProvisioned = isProvisioned
        self.isSameChip = isSameChip
        self.stateKey = stateKey
        self.storageRoot = storageRoot
    }

    /// The problems that were found, most important first; empty if there are no problems.
    public var problems: [ServiceError] {
        var problems: [ServiceError] = []
        if let obstacle { problems.append(obstacle) }
        if isSameChip == false { problems.append(ServiceError(.chipCleared)) }
        if chip?.inLockout == true { problems.append(ServiceError(.chipLockedOut)) }
        if !isProvisioned, chip?.ownerAuthSet == true {
            problems.append(ServiceError(.ownerAuthorizationNeeded))
        }
        return problems
    }
}

/// The identity and setup of a TPM.
public struct ChipStatus: Sendable, Hashable, Codable {
    /// The manufacturer's ID of up to four letters, such as `IFX`.
    public let manufacturer: String
    /// The vendor string.
    public let vendor: String
    /// The firmware version.
    public let firmware: String
    /// The revision of the specification, such as `1.59`.
    public let specRevision: String
    /// The number of defined NV counters, if the TPM reports it.
    public let counters: Int?
    /// The number of NV counters that can still be defined, if the TPM reports it.
    public let countersFree: Int?
    /// Whether the owner hierarchy has an authorization value.
    public let ownerAuthSet: Bool
    /// Whether the lockout hierarchy has an authorization value; without one, any program can reset the failure count.
    public let lockoutAuthSet: Bool
    /// The current number of failed authorizations.
    public let failures: Int
    /// The number of failures at which the TPM locks.
    public let failureLimit: Int
    /// The number of seconds after which one failure is forgotten; 0 means never.
    public let recoverySeconds: Int
    /// Whether the TPM is locked after too many failed authorizations.
    public let inLockout: Bool

    /// Creates a status.
    public init(
        manufacturer: String,
        vendor: String,
        firmware: String,
        specRevision: String,
        counters: Int?,
        countersFree: Int?,
        ownerAuthSet: Bool,
        lockoutAuthSet: Bool,
        failures: Int,
        failureLimit: Int,
        recoverySeconds: Int,
        inLockout: Bool
    ) {
        self.manufacturer = manufacturer
        self.vendor = vendor
        self.firmware = firmware
        self.specRevision = specRevision
        self.counters = counters
        self.countersFree = countersFree
        self.ownerAuthSet = ownerAuthSet
        self.lockoutAuthSet = lockoutAuthSet
        self.failures = failures
        self.failureLimit = failureLimit
        self.recoverySeconds = recoverySeconds
        self.inLockout = inLockout
    }
}

/// The effect of a vault reset on the fingers.
public enum VaultReset: Sendable, Hashable, Codable {
    /// The fingers are unchanged.
    case fingersKept
    /// The fingers can no longer be read; the database was renamed to this name.
    case fingersLost(database: String)

    private enum CodingKeys: CodingKey { case fingersKept, fingersLost }
}

/// The result of binding secrets to the current boot measurements.
public struct Resealing: Sendable, Hashable, Codable {
    /// Secrets that are now bound to the current measurements.
    public package(set) var resealed: [ItemID] = []
    /// Items that could not be bound again, and that also require the passcode as long as the measurements differ.
    ///
    /// These are keys, and secrets with an application password.
    public package(set) var unchanged: [ItemID] = []
    /// Secrets that can never be unlocked again, for a reason other than the boot measurements.
    public package(set) var dead: [ItemID] = []

    /// Creates an empty result.
    public init() {}
}

/// Information about a state directory and its TPM that is available without accessing either.
public struct MaintenanceFacts: Sendable, Hashable, Codable {
    /// The path of the state directory.
    public let statePath: String
    /// The address of the chosen TPM; `none` if no TPM is used.
    public let tpmAddress: String
    /// Whether an option or a variable names the TPM, so that its failure is an error.
    public let isTPMNamed: Bool
    /// Whether a simulated TPM has responded.
    public let usedSimulatedTPM: Bool
    /// Whether a real TPM protects the state key, or at least the authority over the items.
    public let isProtectedByHardware: Bool

    /// Creates the information; the defaults are those for a service that does not respond.
    public init(
        statePath: String = "",
        tpmAddress: String = "none",
        isTPMNamed: Bool = false,
        usedSimulatedTPM: Bool = false,
        isProtectedByHardware: Bool = false
    ) {
        self.statePath = statePath
        self.tpmAddress = tpmAddress
        self.isTPMNamed = isTPMNamed
        self.usedSimulatedTPM = usedSimulatedTPM
        self.isProtectedByHardware = isProtectedByHardware
    }
}
