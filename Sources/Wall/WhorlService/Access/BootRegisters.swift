// SPDX-License-Identifier: Apache-2.0

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
    package var mask: UInt32 { registers.reduce(0) { $0 | 1 << UInt32($1) } }

    package init?(mask: UInt32) {
        // A mask of registers that are refused is no mask; the reason does not matter.
        guard mask >> 24 == 0, let made = try? BootRegisters((0..<24).filter { mask >> UInt32($0) & 1 == 1 })
        else { return nil }
        self = made
    }
}
