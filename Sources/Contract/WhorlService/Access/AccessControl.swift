// SPDX-License-Identifier: Apache-2.0

/// The proofs that the TPM requires before it releases a secret or a signature.
///
/// An access control is fixed when the item is created. The TPM enforces it, so Whorl cannot relax it later.
public struct AccessControl: Sendable, Hashable {
    /// The alternative ways to unlock an item, simplified and in a fixed order.
    ///
    /// A single empty way means that no proof is needed.
    package let ways: [AccessWay]

    /// Whether an application password is also required.
    public private(set) var needsApplicationPassword = false

    /// The boot measurements that the access control is bound to, or `nil`.
    ///
    /// If the measurements differ, the passcode is also required; see ``boundToBoot(_:)``.
    public private(set) var pcrs: BootRegisters?

    /// The required strength of a touch, if a finger is used; enforced by the service, not by the TPM.
    public private(set) var strength = TouchStrength.any

    private init(_ ways: [AccessWay]) { self.ways = AccessWay.simplest(ways) }

    /// Requires no proof; only this TPM can unlock the item, and only for this vault.
    public static let none = AccessControl([[]])
    /// Requires any enrolled finger, including fingers enrolled later.
    public static let biometryAny = AccessControl([.biometryAny])
    /// Requires a finger from the current set.
    ///
    /// After a finger is added or removed, the item can never be unlocked again.
    public static let biometryCurrentSet = AccessControl([.biometryCurrentSet])
    /// Requires the owner's passcode.
    public static let devicePasscode = AccessControl([.devicePasscode])
    /// Requires any enrolled finger, or the passcode.
    public static let userPresence = AccessControl([.biometryAny, .devicePasscode])

    /// Combines two access controls so that either one is sufficient.
    ///
    /// Neither of them may have an application password or boot measurements; add these to the result.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused``.
    public static func either(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(ServiceError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(first.ways + second.ways)
    }

    /// Combines two access controls so that both are required.
    ///
    /// - Throws: The errors of ``either(_:_:)``.
    public static func both(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(ServiceError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(AccessWay.combined(first.ways, second.ways))
    }

    /// The same access control, with an application password also required.
    public var withApplicationPassword: AccessControl {
        var changed = self
        changed.needsApplicationPassword = true
        return changed
    }

    /// Returns the same access control, bound to the current boot measurements.
    ///
    /// If the measurements differ, for example after a firmware update, the passcode is also required. With the
    /// passcode, `whorl vault reseal` binds secrets to the new measurements.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused`` if every way already requires the passcode.
    public func boundToBoot(_ pcrs: BootRegisters) throws(ServiceError) -> AccessControl {
        guard ways.contains(where: { !$0.contains(.devicePasscode) }) else {
            throw .accessRefused(
                because: "every way already requires the passcode, which stands in for the measurements"
            )
        }
        var changed = self
        changed.pcrs = pcrs
        return changed
    }

    /// Returns the same access control, with a required strength for each touch.
    ///
    /// Ways that do not need a finger are unchanged. To require a finger and the passcode, see ``both(_:_:)``.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused`` if no way needs a finger, if the strength includes the passcode,
    ///   or if it names a reader whose ID does not consist of 1 to 200 visible ASCII characters.
    public func demanding(_ strength: TouchStrength) throws(ServiceError) -> AccessControl {
        guard takesBiometry || strength == .any else {
            throw .accessRefused(because: "a touch strength requires a way that uses a finger")
        }
        guard !strength.hasPasscode else {
            throw .accessRefused(because: "for a finger and the passcode, use biometry-any-and-passcode")
        }
        guard TouchStrength(strength.text) == strength else {
            throw .accessRefused(because: "the reader's ID is invalid")
        }
        var changed = self
        changed.strength = strength
        return changed
    }

    /// Whether a finger can unlock the item, alone or together with other proofs.
    public var takesBiometry: Bool { ways.contains { $0.needsBiometry } }

    /// Whether any of the ways is bound to the current set of fingers.
    public var isBoundToCurrentSet: Bool { ways.contains { $0.contains(.biometryCurrentSet) } }

    /// Whether any of the ways accepts the passcode, in which case a passcode must be set when the item is created.
    public var takesPasscode: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether every way requires the passcode, in which case the item is lost if the passcode is removed.
    public var isLostWithoutPasscode: Bool { ways.allSatisfy { $0.contains(.devicePasscode) } }

    /// Whether every way requires the current set of fingers, in which case the item is lost if the set changes.
    package var isDeadWithItsSet: Bool { ways.allSatisfy { $0.contains(.biometryCurrentSet) } }

    /// The ways as the TPM enforces them, including the boot measurements.
    ///
    /// If an access control `A` is bound to the boot measurements, this is `(A and measurements) or (A and passcode)`.
    package var waysInChip: [AccessWay] {
        guard pcrs != nil else { return ways }
        return AccessWay.simplest(AccessWay.combined(ways, [.measuredBoot, .devicePasscode]))
    }

    private static func bothPlain(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(ServiceError) {
        for part in [first, second] where part != AccessControl(part.ways) {
            throw .accessRefused(
                because:
                    "password, measurements and strength apply to the whole access control, not to a part"
            )
        }
    }
}

extension AccessControl {
    /// Restores a stored access control, and checks that the initializers above could have created it.
    package init?(
        ways: [AccessWay],
        needsApplicationPassword: Bool,
        pcrs: BootRegisters?,
        strength: TouchStrength = .any
    ) {
        self.init(ways)
        guard self.ways == ways, !ways.contains(where: { $0.contains(.measuredBoot) }) else { return nil }
        self.needsApplicationPassword = needsApplicationPassword
        // If one part is invalid, the whole access control is. The reason only matters to someone who writes one.
        guard let strong = try? demanding(strength) else { return nil }
        self = strong
        guard let pcrs else { return }
        guard let bound = try? boundToBoot(pcrs) else { return nil }
        self = bound
    }
}

/// Platform configuration registers (PCRs) of the SHA-256 bank, which hold the boot measurements.
public struct BootRegisters: Sendable, Hashable {
    /// The register numbers, 0 to 23, in ascending order.
    public let registers: [Int]

    /// Creates a selection of 1 to 24 registers.
    ///
    /// Register 7 measures the Secure Boot state and changes least often; registers 0 and 2 measure the firmware's
    /// code.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused``.
    public init(_ registers: some Sequence<Int>) throws(ServiceError) {
        let wanted = Set(registers)
        guard !wanted.isEmpty, wanted.allSatisfy((0..<24).contains) else {
            throw .accessRefused(because: "register numbers range from 0 to 23")
        }
        // Any program can reset 16 and 23, so binding to them would have no effect.
        guard wanted.isDisjoint(with: [16, 23]) else {
            throw .accessRefused(because: "registers 16 and 23 can be reset by any program")
        }
        self.registers = wanted.sorted()
    }

    /// The selection as a bit mask.
    package var mask: UInt32 { registers.reduce(0) { $0 | 1 << UInt32($1) } }

    package init?(mask: UInt32) {
        // A mask with refused registers is invalid; the reason does not matter.
        guard mask >> 24 == 0, let made = try? BootRegisters((0..<24).filter { mask >> UInt32($0) & 1 == 1 })
        else { return nil }
        self = made
    }
}
