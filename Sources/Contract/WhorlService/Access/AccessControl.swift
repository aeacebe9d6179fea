// SPDX-License-Identifier: Apache-2.0

/// The proofs that the chip requires before it gives a secret or a signature.
///
/// It is fixed when the item is made. The chip enforces it; Whorl cannot widen it later.
public struct AccessControl: Sendable, Hashable {
    /// The ways to open, in their simplest form and order.
    ///
    /// A single empty way means that no proof is needed.
    package let ways: [AccessWay]

    /// Whether an application password is needed in addition.
    public private(set) var needsApplicationPassword = false

    /// The measurements of the machine's start that the access control is bound to; `nil` if it is not bound to any.
    ///
    /// While they differ, the passcode is needed in addition; see ``boundToBoot(_:)``.
    public private(set) var pcrs: BootRegisters?

    /// The strength that a touch must have, if a finger is shown; the service enforces it, not the chip.
    public private(set) var strength = TouchStrength.any

    private init(_ ways: [AccessWay]) { self.ways = AccessWay.simplest(ways) }

    /// No proof is needed; only this chip can open the item, and only for this vault.
    public static let none = AccessControl([[]])
    /// Any enrolled finger, also one that is added later.
    public static let biometryAny = AccessControl([.biometryAny])
    /// A finger of the set as it is now; after a finger is added or removed, the item never opens again.
    public static let biometryCurrentSet = AccessControl([.biometryCurrentSet])
    /// The owner's passcode.
    public static let devicePasscode = AccessControl([.devicePasscode])
    /// Any enrolled finger, or the passcode.
    public static let userPresence = AccessControl([.biometryAny, .devicePasscode])

    /// Combines two access controls, either of which is enough.
    ///
    /// Both must be plain: application password and boot measurements are added to the result.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused``.
    public static func either(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(ServiceError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(first.ways + second.ways)
    }

    /// Combines two access controls, both of which are needed.
    ///
    /// - Throws: as ``either(_:_:)``.
    public static func both(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(ServiceError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(AccessWay.combined(first.ways, second.ways))
    }

    /// The same access control with an application password in addition.
    public var withApplicationPassword: AccessControl {
        var changed = self
        changed.needsApplicationPassword = true
        return changed
    }

    /// Returns the same access control, bound to the measurements of the machine's start.
    ///
    /// While the measurements differ, for example after an update of the firmware, the passcode is needed in addition
    /// to what the access control asks; with it, `whorl vault reseal` binds secrets to the new measurements.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused`` if the passcode is part of every way anyway.
    public func boundToBoot(_ pcrs: BootRegisters) throws(ServiceError) -> AccessControl {
        guard ways.contains(where: { !$0.contains(.devicePasscode) }) else {
            throw .accessRefused(
                because: "the passcode stands in for the measurements, and it is needed already"
            )
        }
        var changed = self
        changed.pcrs = pcrs
        return changed
    }

    /// Returns the same access control, with a strength that each touch must have.
    ///
    /// A way that needs no finger is not changed. For a finger together with the passcode, see ``both(_:_:)``.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused`` if no way needs a finger, if the strength has the passcode, or if
    ///   it names a reader whose id is not visible ASCII of at most 200 bytes.
    public func demanding(_ strength: TouchStrength) throws(ServiceError) -> AccessControl {
        guard takesBiometry || strength == .any else {
            throw .accessRefused(because: "the strength of a touch needs a way with a finger")
        }
        guard !strength.hasPasscode else {
            throw .accessRefused(because: "a finger with the passcode is written biometry-any-and-passcode")
        }
        guard TouchStrength(strength.text) == strength else {
            throw .accessRefused(because: "the reader's id is not one")
        }
        var changed = self
        changed.strength = strength
        return changed
    }

    /// Whether a finger opens the item, alone or together with other proofs.
    public var takesBiometry: Bool { ways.contains { $0.needsBiometry } }

    /// Whether one of the ways is bound to the present set of fingers.
    public var isBoundToCurrentSet: Bool { ways.contains { $0.contains(.biometryCurrentSet) } }

    /// Whether one of the ways takes the passcode, so that a passcode must be set when the item is made.
    public var takesPasscode: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether every way needs the passcode, so that the item is lost with it.
    public var isLostWithoutPasscode: Bool { ways.allSatisfy { $0.contains(.devicePasscode) } }

    /// Whether every way needs the present set of fingers, so that the item is lost with it.
    package var isDeadWithItsSet: Bool { ways.allSatisfy { $0.contains(.biometryCurrentSet) } }

    /// The ways as the chip gets them, including the measurements.
    ///
    /// `A` bound to boot is `(A and measurements) or (A and passcode)`.
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
                    "application password, measurements and strength are added to the whole, not to a part"
            )
        }
    }
}

extension AccessControl {
    /// Restores a stored access control; its parts are checked to be what the initializers above give.
    package init?(
        ways: [AccessWay],
        needsApplicationPassword: Bool,
        pcrs: BootRegisters?,
        strength: TouchStrength = .any
    ) {
        self.init(ways)
        guard self.ways == ways, !ways.contains(where: { $0.contains(.measuredBoot) }) else { return nil }
        self.needsApplicationPassword = needsApplicationPassword
        // Refused parts make the whole no access control; the reason is for those who write one.
        guard let strong = try? demanding(strength) else { return nil }
        self = strong
        guard let pcrs else { return }
        guard let bound = try? boundToBoot(pcrs) else { return nil }
        self = bound
    }
}

/// Platform configuration registers of the SHA-256 bank, which hold the measurements of the machine's start.
public struct BootRegisters: Sendable, Hashable {
    /// The registers' numbers, 0 to 23, in ascending order.
    public let registers: [Int]

    /// Makes a selection of 1 to 24 registers.
    ///
    /// 7 holds the state of Secure Boot and changes least; 0 and 2 hold the firmware's code.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused``.
    public init(_ registers: some Sequence<Int>) throws(ServiceError) {
        let wanted = Set(registers)
        guard !wanted.isEmpty, wanted.allSatisfy((0..<24).contains) else {
            throw .accessRefused(because: "the registers are numbered from 0 to 23")
        }
        // 16 and 23 can be reset by any program: a binding to them would have no effect.
        guard wanted.isDisjoint(with: [16, 23]) else {
            throw .accessRefused(because: "the registers 16 and 23 can be reset by any program")
        }
        self.registers = wanted.sorted()
    }

    /// The bit mask of the registers.
    package var mask: UInt32 { registers.reduce(0) { $0 | 1 << UInt32($1) } }

    package init?(mask: UInt32) {
        // A mask of registers that are refused is no mask; the reason does not matter.
        guard mask >> 24 == 0, let made = try? BootRegisters((0..<24).filter { mask >> UInt32($0) & 1 == 1 })
        else { return nil }
        self = made
    }
}
