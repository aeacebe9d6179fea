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
