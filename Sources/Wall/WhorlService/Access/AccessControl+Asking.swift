// SPDX-License-Identifier: Apache-2.0

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
