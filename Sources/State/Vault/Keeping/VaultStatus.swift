// SPDX-License-Identifier: Apache-2.0

public import StateStore
public import TPM

/// The status of a state directory and its chip, which `whorl doctor` and `whorl vault status` show.
///
/// Reading it changes nothing, neither in the chip nor on the disk.
public struct VaultStatus: Sendable, Hashable {
    /// The place of the state key.
    public enum StateKey: String, Sendable, Hashable {
        /// No state key exists yet.
        case none
        /// In a file that a copy of the directory includes.
        case file
        /// Sealed by the chip.
        case sealed
        /// In both places: `whorl vault provision` was interrupted, and finishes when it is run again.
        case both
    }

    /// The chip's properties; `nil` when the chip cannot be reached.
    public let chip: TPMProperties?
    /// The error that prevents access to the chip.
    public let obstacle: VaultError?
    /// Whether the chip is a simulated one.
    public let isSimulated: Bool
    /// Whether the vault was provisioned in this directory.
    public let isProvisioned: Bool
    /// Whether the chip is the one that the vault was made with; `nil` if that cannot be determined.
    public let isSameChip: Bool?
    /// The place of the state key.
    public let stateKey: StateKey
    /// The handle of the storage root; `nil` before the vault is provisioned.
    public let storageRoot: UInt32?
    /// The problems that were found, most important first; empty if there are none.
    public let problems: [VaultError]

    /// Whether a directory has a vault, according to its file; the chip is not asked, and a damaged file counts.
    public static func isProvisioned(_ directory: StateDirectory) -> Bool {
        (try? PrivateFiles.checkFile(VaultAuthority.path(directory))) ?? true
    }

    /// Reads the status of a directory and a chip.
    ///
    /// - Throws: `store` when the directory's files cannot be read.
    public static func read(
        device: TPMDevice,
        directory: StateDirectory
    ) async throws(VaultError) -> VaultStatus {
        let authority = try VaultAuthority.load(directory)
        let stateKey = try StateKey(directory)
        do {
            let (properties, isSame) = try await device.perform { commands throws(TPMError) in
                (try commands.properties(), try sameChip(commands, authority))
            }
            return VaultStatus(device, authority, stateKey, properties, nil, isSame)
        } catch {
            return VaultStatus(device, authority, stateKey, nil, VaultError(error), nil)
        }
    }

    /// Whether the authority's root exists and the authority's object loads under it.
    private static func sameChip(
        _ commands: borrowing TPMCommands,
        _ authority: VaultAuthority?
    ) throws(TPMError) -> Bool? {
        guard let authority else { return nil }
        guard try commands.check(authority.root) == .same else { return false }
        do {
            try commands.load(authority.object, under: authority.root)
            return true
        } catch {
            guard error.code == .foreignBlob || error.code == .foreignRoot else { throw error }
            return false
        }
    }

    private init(
        _ device: TPMDevice,
        _ authority: VaultAuthority?,
        _ stateKey: StateKey,
        _ properties: TPMProperties?,
        _ obstacle: VaultError?,
        _ isSameChip: Bool?
    ) {
        self.chip = properties
        self.obstacle = obstacle
        self.isSimulated = device.address.isSimulated
        self.isProvisioned = authority != nil
        self.isSameChip = isSameChip
        self.stateKey = stateKey
        self.storageRoot = authority?.root.handle
        var problems: [VaultError] = []
        if let obstacle { problems.append(obstacle) }
        if isSameChip == false { problems.append(VaultError(.chipCleared)) }
        if properties?.inLockout == true { problems.append(VaultError(.chipLockedOut)) }
        if authority == nil, properties?.ownerAuthSet == true {
            problems.append(VaultError(.ownerAuthorizationNeeded))
        }
        self.problems = problems
    }
}

extension VaultStatus.StateKey {
    fileprivate init(_ directory: StateDirectory) throws(VaultError) {
        do throws(StateError) {
            let inFile = try PrivateFiles.checkFile(FileKeySource(directory: directory).path)
            let isSealed = try PrivateFiles.checkFile(directory.file("state.sealed"))
            self =
                switch (inFile, isSealed) {
                case (false, false): .none
                case (true, false): .file
                case (false, true): .sealed
                case (true, true): .both
                }
        } catch {
            throw VaultError(.store(error), error.path)
        }
    }
}
