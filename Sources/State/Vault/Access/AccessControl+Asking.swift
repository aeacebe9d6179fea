// SPDX-License-Identifier: Apache-2.0

extension AccessControl {
    /// What a person is asked for before an item is opened.
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

    /// What is asked for, as long as the machine starts as the item knows it.
    ///
    /// - Parameter proof: What was shown before; `nil` when nothing was.
    /// - Returns: What is missing.
    package func asking(after proof: OwnerProof? = nil) -> Asking {
        let ways = ways.map { $0.subtracting(proof?.shown ?? []) }
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

    /// Whether the passcode may open it where something else alone did not.
    package var canTakePasscodeBesides: Bool { waysInChip.contains { $0.contains(.devicePasscode) } }

    /// Whether a match of a moment ago opens it as a new one does.
    ///
    /// What is bound to the present set of fingers is opened by a touch made for it.
    package var allowsReuse: Bool { !isBoundToCurrentSet }
}

extension OwnerProof {
    /// What of a way it stands for; the chip says whether a finger is one of the present set.
    fileprivate var shown: AccessWay {
        var shown: AccessWay = []
        if showsFinger { shown.formUnion(.biometryCurrentSet) }
        if showsPasscode { shown.formUnion(.devicePasscode) }
        return shown
    }
}
