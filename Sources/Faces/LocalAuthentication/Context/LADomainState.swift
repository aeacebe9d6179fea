// SPDX-License-Identifier: Apache-2.0

/// The state of the enrolled fingers and the paired devices, for comparison with an earlier state.
///
/// The values are opaque: they show that something changed, but not what changed. They are different for each program.
public final class LADomainState: NSObject, Sendable {
    /// The enrolled fingers.
    public let biometry: LADomainStateBiometry
    /// The paired devices.
    ///
    /// Linux machines never have paired devices.
    public let companion: LADomainStateCompanion

    init(biometry: LADomainStateBiometry) {
        self.biometry = biometry
        companion = LADomainStateCompanion()
        super.init()
    }

    /// A value that changes whenever the enrolled fingers or the paired devices change, or `nil` while no finger is
    /// enrolled.
    public var stateHash: Data? { biometry.stateHash }
}

/// The state of the enrolled fingers, for comparison with an earlier state.
public final class LADomainStateBiometry: NSObject, Sendable {
    /// The kind of biometry of the machine, whether or not a finger is enrolled.
    public let biometryType: LABiometryType
    /// A hash of the enrolled fingers: 32 bytes that change whenever a finger is added or removed.
    ///
    /// The value is `nil` while no finger is enrolled, or if the enrollment cannot be trusted. Adding a finger and
    /// removing it again does not restore the old value. It can be read during a lockout.
    public let stateHash: Data?

    init(biometryType: LABiometryType, stateHash: Data?) {
        self.biometryType = biometryType
        self.stateHash = stateHash
        super.init()
    }
}

/// The state of the paired devices, for comparison with an earlier state.
///
/// Linux machines never have paired devices.
public final class LADomainStateCompanion: NSObject, Sendable {
    override init() { super.init() }

    /// Always empty.
    public var availableCompanionTypes: Set<LACompanionType> { [] }
    /// Always `nil`.
    public var stateHash: Data? { nil }

    /// Always `nil`.
    public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}
