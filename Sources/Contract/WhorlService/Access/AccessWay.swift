// SPDX-License-Identifier: Apache-2.0

/// One way to unlock an item: a set of proofs, all of which are required.
package struct AccessWay: OptionSet, Sendable, Hashable, Comparable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let biometryAny = AccessWay(rawValue: 1)
    /// A finger from the current set; includes ``biometryAny``.
    package static let biometryCurrentSet = AccessWay(rawValue: 3)
    package static let devicePasscode = AccessWay(rawValue: 4)
    /// The boot measurements that the item is bound to.
    ///
    /// This proof is never stored; see ``AccessControl/waysInChip``.
    package static let measuredBoot = AccessWay(rawValue: 8)

    package var needsBiometry: Bool { contains(.biometryAny) }

    package static func < (left: AccessWay, right: AccessWay) -> Bool { left.rawValue < right.rawValue }

    /// Returns all combinations of a way from the first list and a way from the second.
    package static func combined(_ first: [AccessWay], _ second: [AccessWay]) -> [AccessWay] {
        first.flatMap { one in second.map { one.union($0) } }
    }

    /// Returns the ways in a fixed order, omitting any way that requires everything another one does, and more.
    ///
    /// As a result, access controls with the same meaning are equal.
    package static func simplest(_ ways: [AccessWay]) -> [AccessWay] {
        Set(ways).filter { way in !ways.contains { $0.isStrictSubset(of: way) } }.sorted()
    }
}

extension AccessControl {
    /// The proof to prompt for before an item is unlocked.
    package enum Asking: Sendable, Hashable {
        /// No proof.
        case nothing
        /// A finger.
        case finger
        /// The passcode.
        case passcode
        /// A finger or the passcode, whichever comes first.
        case either
        /// A finger and the passcode.
        case both
    }

    /// Returns the proof to prompt for, provided the boot measurements have not changed since the item was bound.
    ///
    /// - Parameter shown: The proofs that the user has already provided.
    /// - Returns: The proof that is still missing.
    package func asking(after shown: AccessWay = []) -> Asking {
        let ways = ways.map { $0.subtracting(shown) }
        if ways.contains([]) { return .nothing }
        let finger = ways.contains { $0.needsBiometry && !$0.contains(.devicePasscode) }
        let passcode = ways.contains { !$0.needsBiometry }
        return switch (finger, passcode) {
        case (true, true): .either
        case (true, false): .finger
        case (false, true): .passcode
        case (false, false): .both
        }
    }

    /// Whether the passcode can unlock the item if the other proofs are not sufficient.
    package var canTakePasscodeBesides: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether a recent match can unlock the item in place of a new touch.
    ///
    /// An item that is bound to the current set of fingers requires a new touch.
    package var allowsReuse: Bool { !isBoundToCurrentSet }
}
