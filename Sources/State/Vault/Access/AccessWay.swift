// SPDX-License-Identifier: Apache-2.0

/// One way to open an item: everything in it is needed.
struct AccessWay: OptionSet, Sendable, Hashable, Comparable {
    let rawValue: UInt8

    static let biometryAny = AccessWay(rawValue: 1)
    /// A finger of the present set; this contains ``biometryAny``.
    static let biometryCurrentSet = AccessWay(rawValue: 3)
    static let devicePasscode = AccessWay(rawValue: 4)
    /// The machine started as it did when the item was made.
    ///
    /// It is never stored; see ``AccessControl/waysInChip``.
    static let measuredBoot = AccessWay(rawValue: 8)

    var needsBiometry: Bool { contains(.biometryAny) }

    static func < (left: AccessWay, right: AccessWay) -> Bool { left.rawValue < right.rawValue }

    /// Combines every way of the first with every way of the second.
    static func combined(_ first: [AccessWay], _ second: [AccessWay]) -> [AccessWay] {
        first.flatMap { one in second.map { one.union($0) } }
    }

    /// Returns the ways in a fixed order, without those that ask for more than another one does.
    ///
    /// So two access controls with the same meaning are equal.
    static func simplest(_ ways: [AccessWay]) -> [AccessWay] {
        Set(ways).filter { way in !ways.contains { $0.isStrictSubset(of: way) } }.sorted()
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
    /// - Throws: ``VaultError/Code/accessRefused(_:)``.
    public init(_ registers: some Sequence<Int>) throws(VaultError) {
        let wanted = Set(registers)
        guard !wanted.isEmpty, wanted.allSatisfy((0..<24).contains) else {
            throw VaultError(.accessRefused("the registers are numbered from 0 to 23"))
        }
        // 16 and 23 can be reset by any program: a binding to them would have no effect.
        guard wanted.isDisjoint(with: [16, 23]) else {
            throw VaultError(.accessRefused("the registers 16 and 23 can be reset by any program"))
        }
        self.registers = wanted.sorted()
    }

    /// The bit mask of the registers.
    var mask: UInt32 { registers.reduce(0) { $0 | 1 << UInt32($1) } }

    init?(mask: UInt32) {
        guard mask >> 24 == 0, let made = try? BootRegisters((0..<24).filter { mask >> UInt32($0) & 1 == 1 })
        else { return nil }
        self = made
    }
}
