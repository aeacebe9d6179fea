// SPDX-License-Identifier: Apache-2.0

/// One way to open an item: everything in it is needed.
package struct AccessWay: OptionSet, Sendable, Hashable, Comparable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let biometryAny = AccessWay(rawValue: 1)
    /// A finger of the present set; this contains ``biometryAny``.
    package static let biometryCurrentSet = AccessWay(rawValue: 3)
    package static let devicePasscode = AccessWay(rawValue: 4)
    /// The machine started as it did when the item was made.
    ///
    /// It is never stored; see ``AccessControl/waysInChip``.
    package static let measuredBoot = AccessWay(rawValue: 8)

    package var needsBiometry: Bool { contains(.biometryAny) }

    package static func < (left: AccessWay, right: AccessWay) -> Bool { left.rawValue < right.rawValue }

    /// Combines every way of the first with every way of the second.
    package static func combined(_ first: [AccessWay], _ second: [AccessWay]) -> [AccessWay] {
        first.flatMap { one in second.map { one.union($0) } }
    }

    /// Returns the ways in a fixed order, without those that ask for more than another one does.
    ///
    /// So two access controls with the same meaning are equal.
    package static func simplest(_ ways: [AccessWay]) -> [AccessWay] {
        Set(ways).filter { way in !ways.contains { $0.isStrictSubset(of: way) } }.sorted()
    }
}

extension AccessControl {
    /// The proof that a person is asked for before an item is opened.
    package enum Asking: Sendable, Hashable {
        /// Nothing.
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

    /// Returns what is asked for, as long as the machine starts as it did when the item was bound.
    ///
    /// - Parameter shown: The parts of a way that were shown before.
    /// - Returns: The missing proof.
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

    /// Whether the passcode may open the item when another proof alone did not.
    package var canTakePasscodeBesides: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether a recent match opens the item as a new one does.
    ///
    /// An item that is bound to the present set of fingers needs a touch of its own.
    package var allowsReuse: Bool { !isBoundToCurrentSet }
}
