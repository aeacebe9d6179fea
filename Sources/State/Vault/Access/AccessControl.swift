// SPDX-License-Identifier: Apache-2.0

/// What somebody must show before the chip gives a secret or a signature.
///
/// It is fixed when the item is made. The chip enforces it; Whorl cannot widen it later.
public struct AccessControl: Sendable, Hashable {
    /// The ways to open, in their simplest form and order.
    ///
    /// One empty way: nothing has to be shown.
    let ways: [AccessWay]

    /// Whether a password of the program's own is needed besides.
    public private(set) var needsApplicationPassword = false

    /// The measurements of the machine's start that it is bound to; `nil` when to none.
    ///
    /// While they differ, the passcode is needed besides; see ``boundToBoot(_:)``.
    public private(set) var pcrs: BootRegisters?

    private init(_ ways: [AccessWay]) { self.ways = AccessWay.simplest(ways) }

    /// Nothing has to be shown; only this chip can open it, and only for this vault.
    public static let none = AccessControl([[]])
    /// Any enrolled finger, also one that is added later.
    public static let biometryAny = AccessControl([.biometryAny])
    /// A finger of the set as it is now; after a finger is added or removed, the item never opens again.
    public static let biometryCurrentSet = AccessControl([.biometryCurrentSet])
    /// The owner's passcode.
    public static let devicePasscode = AccessControl([.devicePasscode])
    /// Any enrolled finger, or the passcode.
    public static let userPresence = AccessControl([.biometryAny, .devicePasscode])

    /// Either is enough.
    ///
    /// Both must be plain: application password and boot measurements are added to the whole.
    ///
    /// - Throws: ``VaultError/Code/accessRefused(_:)``.
    public static func either(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(VaultError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(first.ways + second.ways)
    }

    /// Both are needed.
    ///
    /// - Throws: as ``either(_:_:)``.
    public static func both(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(VaultError) -> AccessControl {
        try bothPlain(first, second)
        return AccessControl(AccessWay.combined(first.ways, second.ways))
    }

    /// The same, with a password of the program's own besides.
    public var withApplicationPassword: AccessControl {
        var changed = self
        changed.needsApplicationPassword = true
        return changed
    }

    /// The same, bound to how the machine starts.
    ///
    /// While the measurements differ, as after an update of the firmware, the passcode is needed besides what the
    /// access control asks; with it, `whorl vault reseal` binds secrets to the new measurements.
    ///
    /// - Throws: ``VaultError/Code/accessRefused(_:)`` for what the passcode opens anyway.
    public func boundToBoot(_ pcrs: BootRegisters) throws(VaultError) -> AccessControl {
        guard ways.contains(where: { !$0.contains(.devicePasscode) }) else {
            throw VaultError(
                .accessRefused("the passcode stands in for the measurements, and it is needed already")
            )
        }
        var changed = self
        changed.pcrs = pcrs
        return changed
    }

    /// Whether it opens with a finger, alone or with other things.
    public var takesBiometry: Bool { ways.contains { $0.needsBiometry } }

    /// Whether it is bound to the present set of fingers in one of its ways.
    public var isBoundToCurrentSet: Bool { ways.contains { $0.contains(.biometryCurrentSet) } }

    /// Whether it has a way in which the passcode has a part, so that one must be set when the item is made.
    public var takesPasscode: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether every way needs the passcode, so that the item is lost with it.
    public var isLostWithoutPasscode: Bool { ways.allSatisfy { $0.contains(.devicePasscode) } }

    /// Whether every way needs the present set of fingers, so that the item is lost with it.
    package var isDeadWithItsSet: Bool { ways.allSatisfy { $0.contains(.biometryCurrentSet) } }

    /// The ways as the chip gets them, with the measurements taken in.
    ///
    /// `A` bound to boot is `(A and measurements) or (A and passcode)`.
    var waysInChip: [AccessWay] {
        guard pcrs != nil else { return ways }
        return AccessWay.simplest(AccessWay.combined(ways, [.measuredBoot, .devicePasscode]))
    }

    private static func bothPlain(
        _ first: AccessControl,
        _ second: AccessControl
    ) throws(VaultError) {
        for part in [first, second] where part.needsApplicationPassword || part.pcrs != nil {
            throw VaultError(
                .accessRefused("application password and measurements are added to the whole, not to a part")
            )
        }
    }
}

extension AccessControl {
    /// What was stored, in its parts; the parts are checked to be what the initializers above give.
    init?(ways: [AccessWay], needsApplicationPassword: Bool, pcrs: BootRegisters?) {
        self.init(ways)
        guard self.ways == ways, !ways.contains(where: { $0.contains(.measuredBoot) }) else { return nil }
        self.needsApplicationPassword = needsApplicationPassword
        guard let pcrs else { return }
        guard let bound = try? boundToBoot(pcrs) else { return nil }
        self = bound
    }
}
